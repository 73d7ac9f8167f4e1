/** The end of a cluster, and its return: data goes only where the policy says so. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { persistentVolumeClaims, secrets, statefulSets } from '../../src/api/resource.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import { listAll } from '../support/kubernetes.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('deletion');
  await stage.startOperator();
});

afterAll(() => stage.close());

async function names(resource: typeof secrets): Promise<string[]> {
  return (await listAll(stage.client, resource, stage.namespace)).map((object) => object.metadata.name).sort();
}

async function gone(cluster: TestCluster): Promise<void> {
  await until(
    `${cluster.name} gone`,
    async () => {
      const found = await cluster.object().then(
        () => true,
        (error) => !isNotFound(error),
      );
      const sets = (await names(statefulSets)).filter((name) => name.startsWith(cluster.name));
      const { data, sentinels } = await cluster.pods();
      expect({ found, sets, pods: data.length + sentinels.length }).toEqual({ found: false, sets: [], pods: 0 });
    },
    { withinMs: 120_000 },
  );
}

test('Retain keeps volumes and password, and a new cluster of the name finds its data again', async () => {
  const size = { data: 3, sentinels: 3 };
  const first = await stage.create('kept');
  await first.whole(size, { withinMs: 120_000 });
  const missing = await first.load('kept', 300);
  const password = await first.password();
  await first.remove();
  await gone(first);
  expect(await names(persistentVolumeClaims)).toEqual(['data-kept-0', 'data-kept-1', 'data-kept-2']);
  expect(await names(secrets)).toContain('kept-auth');

  const second = await stage.create('kept');
  await second.whole(size, { withinMs: 120_000 });
  expect(await second.password()).toBe(password);
  expect(await missing()).toEqual([]);
  await second.remove();
  await gone(second);
});

test('Delete takes volumes and password along, for a single node as well', async () => {
  const cluster = await stage.create('single', { mode: 'Standalone', replicas: 1, deletionPolicy: 'Delete' });
  await until(
    'the single node ready',
    async () => {
      const { ready, data, labels, endpoints } = await cluster.view();
      expect({ ready, data, labels, endpoints }).toEqual({
        ready: 'True',
        data: { 'single-0': 'primary' },
        labels: { 'single-0': 'primary' },
        endpoints: ['single-0'],
      });
    },
    { withinMs: 120_000 },
  );
  const missing = await cluster.load('one', 100);
  expect(await missing()).toEqual([]);
  await cluster.remove();
  await gone(cluster);
  await until('volumes and password gone', async () => {
    expect((await names(persistentVolumeClaims)).filter((name) => name.includes('single'))).toEqual([]);
    expect((await names(secrets)).filter((name) => name.includes('single'))).toEqual([]);
  });
});
