/** What goes on for a cluster that is not looked at: its spec is not valid, or its end is near. */
import { afterEach, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import type { RedisSpec } from '../../src/engines/redis/kind/schema.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type ObjectStep, wait } from '../../src/plan/plan.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';

let rig: ReconcilerRig;
/** The clusters that were kept up, as they were understood. */
let kept: Cluster[];

/** A cluster whose engine makes a ConfigMap for its upkeep, on `auth` alone. */
async function begin(spec: object, metadata: Partial<ObjectMeta> = {}): Promise<KubeObject> {
  kept = [];
  const plan = async (cluster: Cluster): Promise<ObjectStep[]> => {
    kept.push(cluster);
    return [{ type: 'create', object: testChild(cluster, 'ConfigMap') }];
  };
  const engine = testEngine({ maintenance: { fields: ['auth'], plan } });
  rig = await reconcilerRig([testCluster('db', spec, metadata)], engine);
  return rig.cluster();
}
afterEach(() => rig.stop());

it.each<readonly [story: string, spec: object, goesOn: boolean]>([
  ['goes on, on the fields that it rests on', { auth: { secretRef: { name: 'own' } } }, true],
  ['goes on where nobody has written those', {}, true],
  ['rests where one of those is not valid', { auth: 'none' }, false],
  ['rests where nothing is to be changed', { paused: true }, false],
])('with a spec that is not valid it %s', async (_, spec, goesOn) => {
  const cluster = await begin({ replicas: 0, ...spec });
  expect((await rig.pass(cluster)).outcome).toMatchObject({ reason: 'InvalidSpec' });
  expect(rig.api.writes).toEqual(['PATCH db/status', ...(goesOn ? ['POST apps/configmaps'] : [])]);
  const understood = kept.map((one) => one.spec as RedisSpec);
  expect(understood).toMatchObject(goesOn ? [{ replicas: 3, ...spec }] : []);
});

it('it rests on the spec as it stands, not as the watch last told', async () => {
  const seen = { ...(await begin({ replicas: 0 })), status: { observedGeneration: 1 } };
  rig.api.put({ ...seen, spec: { replicas: 1 } });
  await rig.pass(seen);
  expect(rig.api.list('ConfigMap')).toEqual([]);
});

it.each([
  ['goes on while a last backup is waited for', true],
  ['ends with that', false],
])('of a cluster that is deleted it %s', async (_, isAwaited) => {
  const spec = { deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } };
  const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
  const cluster = await begin(spec, going);
  rig.engine.lastBackup = () => (isAwaited ? { steps: [], outcome: wait('LastBackup', 'it is taken') } : undefined);
  await rig.pass(cluster);
  expect(rig.api.list('ConfigMap').length).toBe(isAwaited ? 1 : 0);
});
