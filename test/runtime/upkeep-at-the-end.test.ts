/** A certificate that cannot be renewed, of a cluster that waits for its last backup. */
import { expect, it } from 'vitest';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type Step, wait } from '../../src/plan/plan.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';

it('does not keep the last backup from being begun', async () => {
  const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
  const spec = { deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } };
  const renewal = (): Step => {
    const { metadata, ...rest } = testChild(testCluster('db'), 'ConfigMap');
    return { type: 'create', object: { ...rest, kind: 'Secret', metadata: { ...metadata, name: 'db-tls' } } };
  };
  const engine = testEngine({ maintenance: { fields: ['tls'], plan: async () => [renewal()] } });
  const rig = await reconcilerRig([testCluster('db', spec, going)], engine);
  rig.engine.lastBackup = () => ({
    steps: [{ type: 'create', object: testChild(rig.cluster(), 'ConfigMap') }],
    outcome: wait('LastBackup', 'a last backup is taken'),
  });
  const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'no' });
  rig.api.intercept = ({ method, path }) =>
    method === 'POST' && path.includes('/secrets') ? Promise.resolve({ status: 403, headers: {}, body }) : undefined;
  await rig.pass().catch(() => undefined);
  const isBegun = rig.api.get('ConfigMap', 'db') !== undefined;
  await rig.stop();
  expect(isBegun).toBe(true);
});
