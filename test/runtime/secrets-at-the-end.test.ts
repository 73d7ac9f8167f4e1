/** Which of the Secrets that were generated for a cluster go with it. */
import { afterEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testCluster } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
const secretOf = (name: string, cluster = 'db', engine = 'test'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: 'apps',
    labels: { [managedByLabel]: managedBy, [instanceLabel]: cluster, [nameLabel]: engine },
  },
});
const generate = [{ key: 'password', length: 32 }];
let rig: ReconcilerRig;
afterEach(() => rig.stop());

it.each([
  ['Snapshot', ['DELETE secrets/db-identity']],
  ['Delete', ['DELETE secrets/db-identity', 'DELETE secrets/db-root']],
  ['Retain', []],
])('under %s', async (deletionPolicy, deletions) => {
  const backup = { target: { claim: { name: 'backups' } } };
  rig = await reconcilerRig([testCluster('db', { deletionPolicy, backup }, going)]);
  rig.engine.resources = () => [
    { object: secretOf('db-identity'), generate },
    { object: secretOf('db-root'), generate, unlocksBackups: true },
  ];
  for (const name of ['db-identity', 'db-root']) rig.api.put(secretOf(name));
  await turn();
  await rig.pass();
  expect(rig.api.writes.filter((write) => write.startsWith('DELETE'))).toEqual(deletions);
});

it.each([
  ['another cluster', secretOf('db-patroni-ca', 'other')],
  ['a cluster of the same name of another engine', secretOf('db-patroni-ca', 'db', 'other')],
])('one of %s stays, though it has the name', async (_, theirs) => {
  rig = await reconcilerRig([testCluster('db', { deletionPolicy: 'Delete' }, going)]);
  rig.engine.resources = () => [
    { object: secretOf('db-patroni-ca'), issued: true },
    { object: secretOf('db-root'), generate },
  ];
  rig.api.put(theirs);
  rig.api.put(secretOf('db-root'));
  await turn();
  await rig.pass();
  expect(rig.api.writes.filter((write) => write.startsWith('DELETE'))).toEqual(['DELETE secrets/db-root']);
});
