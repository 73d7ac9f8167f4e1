import { expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { type Plan, settled } from '../../src/plan/plan.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler } from '../../src/runtime/reconciler.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { controllerParts } from '../support/controller-parts.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';

/** The status after a pass that changes one field of a ConfigMap, where the field then reads `answered`. */
async function afterChange(answered: 'kept' | 'wanted') {
  const engine = testEngine();
  const { api, cache, client, clock, log, stop } = await controllerParts([testCluster('db')], [engine]);
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const dial = () => Promise.reject(new Error('refused'));
  const reconciler = createReconciler({
    client,
    cache,
    executor: createExecutor({ client, cache }),
    status: createStatusWriter({ client, cache, clock }),
    pace: createPace(clock),
    io: (_, signal) => engineIO({ namespace: 'apps', secrets, claims: blankClaims, dial, clock, signal }),
    log,
    onOutcome: () => undefined,
  });
  const cluster = (): KubeObject => api.get('RedisCluster', 'db') as KubeObject;
  const pass = () => reconciler.reconcile(engine, cluster(), 'test/apps/db', new AbortController().signal);
  const child = testChild(cluster(), 'ConfigMap');
  const stored = api.put({ ...child, data: { a: answered } });
  await pass();
  api.put({ ...cluster(), spec: { replicas: 5 } });
  // What an admission webhook that changes the field back makes of it: a success that changes nothing.
  api.intercept = ({ headers }) =>
    headers?.['content-type'] === 'application/apply-patch+yaml'
      ? Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(stored) })
      : undefined;
  const changes = [{ path: 'data.a', from: 'kept', to: 'wanted' }];
  const plan: Plan = {
    steps: [{ type: 'apply', object: { ...child, data: { a: 'wanted' } }, changes }],
    outcome: settled,
  };
  engine.find = () => ({ plan });
  await pass();
  await stop();
  return { child, status: (cluster() as Cluster).status };
}

it('a field that the API server keeps is told of, and the new generation is called ready all the same', async () => {
  const { child, status } = await afterChange('kept');
  expect(status).toMatchObject({
    observedGeneration: 2,
    plan: { waitingFor: expect.stringMatching(`webhook: ConfigMap ${child.metadata.name}: data\\.a$`) },
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]),
  });
});

it('a field that has changed shows first: the next pass calls the generation ready', async () => {
  const { status } = await afterChange('wanted');
  expect(status).toMatchObject({ observedGeneration: 1 });
});
