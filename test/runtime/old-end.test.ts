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

it.each(children)('it takes no %s', async (_, childOf) => {
  const next = testCluster('db', vanishing, { uid: 'next' });
  rig.api.put(next);
  rig.api.put(childOf(next));
  await turn();
  expect(await rig.pass(old)).toMatchObject({ outcome: { reason: 'Outdated' }, again: 1000 });
  expect(rig.api.writes).toEqual([]);
});

it.each(children)('its own %s goes', async (_, childOf) => {
  rig.api.put(old);
  rig.api.put(childOf(old));
  await turn();
  await rig.pass();
  expect(rig.api.writes.filter((write) => write !== 'PATCH db/status').length).toBe(1);
  expect(rig.api.writes[0]).toMatch(/^DELETE /);
});
