/** What an old view of a cluster that was being deleted does to the next one of its name: nothing. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testClaim, testCluster } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const vanishing = { deletionPolicy: 'Delete' };
const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
const old = testCluster('db', vanishing, { ...going, uid: 'old' });
let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig([]);
});
afterEach(() => rig.stop());

const children: readonly (readonly [kind: string, of: (cluster: KubeObject) => KubeObject])[] = [
  ['StatefulSet', (of) => ({ ...testChild(of, 'ConfigMap'), kind: 'StatefulSet', apiVersion: 'apps/v1' })],
  ['PersistentVolumeClaim', testClaim],
];

async function passOverOld(kind: string): Promise<unknown> {
  const next = testCluster('db', vanishing, { uid: 'next', finalizers: [deletionFinalizer] });
  const childOf = children.find(([child]) => child === kind)?.[1];
  rig.api.put(next);
  if (childOf !== undefined) rig.api.put(childOf(next));
  await turn();
  const result = await rig.pass(old).catch((error: unknown) => error);
  expect(rig.api.get('RedisCluster', 'db')?.metadata).toMatchObject({ uid: 'next', finalizers: [deletionFinalizer] });
  expect(rig.api.list(kind).length).toBe(1);
  return result;
}

it('it takes no PersistentVolumeClaim', async () => {
  expect(await passOverOld('PersistentVolumeClaim')).toMatchObject({ outcome: { reason: 'Outdated' }, again: 1000 });
  expect(rig.api.writes).toEqual([]);
});

it('it takes no StatefulSet, which is not its own, and lets nobody else go', async () => {
  expect(await passOverOld('StatefulSet')).toMatchObject({
    message: expect.stringContaining('the UID in the precondition'),
  });
});

it.each(children)('its own %s goes', async (_, childOf) => {
  rig.api.put(old);
  rig.api.put(childOf(old));
  await turn();
  await rig.pass();
  expect(rig.api.writes.filter((write) => write !== 'PATCH db/status').length).toBe(1);
  expect(rig.api.writes[0]).toMatch(/^DELETE /);
});
