/** A cluster deleted with `--cascade=orphan`, whose StatefulSets have lost their owner, and the watch has not told yet. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testClaim, testCluster } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
const cluster = testCluster('db', { deletionPolicy: 'Delete' }, { ...going, uid: 'uid-of-db' });
const set: KubeObject = {
  ...testChild(cluster, 'ConfigMap'),
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  spec: { volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
};
let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig([{ ...cluster, status: { initialized: true } }]);
  rig.engine.resources = () => [{ object: set }];
  rig.api.put(set);
  rig.api.put(testClaim(cluster));
  await turn();
});
afterEach(() => rig.stop());

const writes = (): readonly string[] => rig.api.writes.filter((write) => !write.endsWith('/status'));

it('loses nothing: what is about to go is looked at again', async () => {
  rig.api.lag();
  rig.api.put({ ...set, metadata: { ...set.metadata, ownerReferences: [] } });
  expect(await rig.pass()).toMatchObject({ outcome: { reason: 'Outdated' } });
  expect(writes()).toEqual([]);
  await rig.pass();
  expect(writes()).toEqual(['PATCH redisclusters/db']);
  expect([rig.api.list('StatefulSet').length, rig.api.list('PersistentVolumeClaim').length]).toEqual([1, 1]);
});

it('goes where its StatefulSets still have it as their owner', async () => {
  await rig.pass();
  expect(writes()).toEqual(['DELETE statefulsets/db']);
});
