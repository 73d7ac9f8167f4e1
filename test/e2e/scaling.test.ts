/** Out and in under writers: one member at a time on the way in, and never the primary. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pairsOf } from '../support/redis-client.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { primaryIn } from '../support/redis-view.ts';
import { underWriters } from '../support/scenario.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('scaling');
  await stage.startOperator();
  cluster = await stage.create('r');
  await cluster.whole({ data: 3, sentinels: 3 }, { withinMs: 120_000 });
});

afterAll(() => stage.close());

test('three data nodes become five, and three again', async () => {
  await underWriters('scale 3→5→3', stage.client, cluster, async () => {
    await cluster.change({ replicas: 5 });
    await cluster.whole({ data: 5, sentinels: 3 }, { withinMs: 120_000 });
    await cluster.change({ replicas: 3 });
    await cluster.whole({ data: 3, sentinels: 3 }, { withinMs: 120_000 });
  });
});

test('a primary that has to go hands over first, and not to another that has to go', async () => {
  await cluster.change({ replicas: 5 });
  await cluster.whole({ data: 5, sentinels: 3 }, { withinMs: 120_000 });
  await moveTo('r-4');
  await underWriters('scale 5→3 with the primary on the last node', stage.client, cluster, async () => {
    await cluster.change({ replicas: 3 });
    const view = await cluster.whole({ data: 3, sentinels: 3 }, { withinMs: 150_000 });
    expect(primaryIn(view)).not.toBe('r-4');
  });
});

test('three sentinels become five, and three again', async () => {
  await cluster.change({ sentinel: { replicas: 5, quorum: 3 } });
  await cluster.whole({ data: 3, sentinels: 5 }, { withinMs: 120_000 });
  await cluster.change({ sentinel: { replicas: 3, quorum: 2 } });
  await cluster.whole({ data: 3, sentinels: 3 }, { withinMs: 150_000 });
});

/** Sentinel elects by priority first, once it has heard of it. */
async function moveTo(name: string): Promise<void> {
  const target = await cluster.pod(name);
  const [sentinel] = (await cluster.pods()).sentinels;
  if (sentinel === undefined) throw new Error('there is no sentinel');
  await until(
    `${name} elected`,
    async () => {
      if ((await cluster.primary()).metadata.name === name) return;
      await cluster.ask(target, 'CONFIG', 'SET', 'replica-priority', '1');
      await until('the sentinel knows', async () => {
        const replicas = await cluster.ask(sentinel, 'SENTINEL', 'REPLICAS', cluster.name);
        const rows = (Array.isArray(replicas) ? replicas : []).map(pairsOf);
        expect(rows.find(({ ip }) => ip === target.status?.podIP)?.['slave-priority']).toBe('1');
      });
      await cluster.ask(sentinel, 'SENTINEL', 'FAILOVER', cluster.name);
      await until('another primary', async () => expect((await cluster.primary()).metadata.name).toBe(name), {
        withinMs: 15_000,
      });
    },
    { withinMs: 180_000, everyMs: 5_000 },
  );
  await cluster.whole({ data: 5, sentinels: 3 }, { withinMs: 120_000 });
}
