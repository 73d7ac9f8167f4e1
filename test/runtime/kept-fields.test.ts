import { expect, it } from 'vitest';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';

/** The status after a pass that changes one field of a ConfigMap, where the field then reads `answered`. */
async function afterChange(answered: 'kept' | 'wanted') {
  const { api, cluster, finds, pass, status, stop } = await reconcilerRig();
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
  finds([{ type: 'apply', object: { ...child, data: { a: 'wanted' } }, changes }]);
  await pass();
  await stop();
  return { child, status: status() };
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
