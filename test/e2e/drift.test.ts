/** What is deleted or changed by hand comes back; what belongs to somebody else is left alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { configMaps, podDisruptionBudgets, services, statefulSets } from '../../src/api/resource.ts';
import { removeByName } from '../support/kubernetes.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { statusOf } from '../support/redis-view.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('drift');
  await stage.startOperator();
  cluster = await stage.create('r');
  await cluster.whole(size, { withinMs: 120_000 });
});

afterAll(() => stage.close());

function read(resource: Resource, name: string): Promise<KubeObject> {
  return stage.client.get({ resource, namespace: stage.namespace, name });
}

async function madeAgain(resource: Resource, old: KubeObject): Promise<void> {
  await until(`${old.kind} ${old.metadata.name} made again`, async () => {
    const now = await read(resource, old.metadata.name);
    expect(now.metadata.uid).not.toBe(old.metadata.uid);
    expect(now.metadata.deletionTimestamp).toBeUndefined();
  });
}

test.each([
  ['ConfigMap', configMaps, 'r-config'],
  ['Service of the primary', services, 'r-primary'],
  ['Service of the sentinels', services, 'r-sentinel'],
  ['disruption budget', podDisruptionBudgets, 'r'],
] as const)('a deleted %s is made again', async (_, resource, name) => {
  const old = await read(resource, name);
  await removeByName(stage.client, old);
  await madeAgain(resource, old);
  await cluster.whole(size);
});

test('a StatefulSet deleted without its pods adopts them', async () => {
  // A Service that was just made again takes a moment to lead anywhere.
  const missing = await until('data written', () => cluster.load('adopted', 200));
  const before = (await cluster.pods()).data.map((pod) => pod.metadata.uid);
  const old = await read(statefulSets, 'r');
  await removeByName(stage.client, old, { propagation: 'Orphan' });
  await madeAgain(statefulSets, old);
  await cluster.whole(size, { withinMs: 120_000 });
  expect((await cluster.pods()).data.map((pod) => pod.metadata.uid)).toEqual(before);
  expect(await missing()).toEqual([]);
});

test('a StatefulSet deleted with all its pods comes back with the data', async () => {
  const missing = await until('data written', () => cluster.load('restarted', 200));
  const old = await read(statefulSets, 'r');
  await removeByName(stage.client, old, { propagation: 'Background' });
  await madeAgain(statefulSets, old);
  await cluster.whole(size, { withinMs: 180_000 });
  expect(await missing()).toEqual([]);
});

test('a selector, a label and a directive changed by hand are put back', async () => {
  const ref = { resource: services, namespace: stage.namespace, name: 'r-primary' };
  const primary = await cluster.primary();
  await cluster.ask(primary, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
  // Nothing tells of a changed directive; it is seen when the cluster is looked at next, as for the Service.
  await stage.client.mergePatch(ref, { spec: { selector: { 'clusterwright.dev/role': 'nobody' } } });
  await until('all put back', async () => {
    expect(await cluster.ask(primary, 'CONFIG', 'GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  });
  await cluster.whole(size);
});

test('an object of another owner is not touched, and the status names it', async () => {
  const foreign = await stage.client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'other-config', namespace: stage.namespace },
    data: { precious: 'yes' },
  });
  const other = await stage.create('other');
  await until('the conflict in the status', async () => {
    const status = statusOf(await other.object());
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'NameConflict' }),
    );
  });
  const now = await read(configMaps, 'other-config');
  expect({ data: now.data, version: now.metadata.resourceVersion }).toEqual({
    data: { precious: 'yes' },
    version: foreign.metadata.resourceVersion,
  });
  await removeByName(stage.client, foreign);
  await other.whole(size, { withinMs: 120_000 });
});
