/** Changes of a living cluster under writers: without a restart where none is needed, one member at a time where one is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import type { Pod } from '../../src/resources/children.ts';
import { imageOf, type TestCluster } from '../support/redis-cluster.ts';
import { replacedPods } from '../support/replaced-pods.ts';
import { underWriters } from '../support/scenario.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('change');
  await stage.startOperator();
  cluster = await stage.create('r', { version: '7.0' });
  await cluster.whole(size, { withinMs: 120_000 });
});

afterAll(() => stage.close());

async function uids(): Promise<(string | undefined)[]> {
  const { data, sentinels } = await cluster.pods();
  return [...data, ...sentinels].map((pod) => pod.metadata.uid);
}

async function everyNode(directive: string, value: string): Promise<void> {
  await until(`${directive} ${value} on every node`, async () => {
    for (const pod of (await cluster.pods()).data) {
      expect(await cluster.ask(pod, 'CONFIG', 'GET', directive)).toEqual([directive, value]);
    }
  });
}

test('a directive that can change at run time restarts nobody, and goes back when it is taken out', async () => {
  const before = await uids();
  await cluster.change({ config: { 'maxmemory-policy': 'allkeys-lfu' } });
  await everyNode('maxmemory-policy', 'allkeys-lfu');
  const without = { config: { 'maxmemory-policy': null } } as unknown as RedisSpecInput;
  await cluster.change(without);
  await everyNode('maxmemory-policy', 'noeviction');
  await cluster.whole(size);
  expect(await uids()).toEqual(before);
});

test('a new version and a directive that needs a restart roll the replicas, and the primary last', async () => {
  const primary = (await cluster.primary()).metadata.name;
  const dataPods = async (): Promise<readonly Pod[]> => (await cluster.pods()).data;
  await underWriters('upgrade 7.0→8.0 with io-threads', stage.client, cluster, async () => {
    const order = await replacedPods(dataPods, async () => {
      await cluster.change({ version: '8.0', image: imageOf('8.0'), config: { 'io-threads': 2 } });
      await until(
        '8.0 with two threads everywhere, and all well',
        async () => {
          for (const pod of (await cluster.pods()).data) {
            expect(await cluster.ask(pod, 'CONFIG', 'GET', 'io-threads')).toEqual(['io-threads', '2']);
            expect(String(await cluster.ask(pod, 'INFO', 'server'))).toContain('redis_version:8.0');
          }
          await cluster.whole(size, { withinMs: 0 });
        },
        { withinMs: 240_000, everyMs: 500 },
      );
    });
    expect(order).toHaveLength(3);
    expect(order.at(-1)).toBe(primary);
  });
});
