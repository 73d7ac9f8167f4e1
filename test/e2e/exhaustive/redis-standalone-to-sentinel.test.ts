/** A single node that gets sentinels and replicas while clients write: it is not restarted, no write is refused, and then it can be lost. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeByName } from '../../support/kubernetes.ts';
import { askRedis } from '../../support/redis-client.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;
let missing: () => Promise<readonly string[]>;

beforeAll(async () => {
  stage = await openStage('redis-to-sentinel');
  await stage.startOperator();
  cluster = await stage.create('r', { mode: 'Standalone', replicas: 1 });
  await cluster.whole({ data: 1, sentinels: 0 }, { withinMs: 120_000 });
  missing = await cluster.load('kept', 1000);
});
afterAll(() => stage.close());

test('gets sentinels and replicas in one change, without a restart and without a refused write', async () => {
  const before = await cluster.primary();
  const entrance = await cluster.entrance();
  let isOver = false;
  const refused: string[] = [];
  let written = 0;
  const writing = (async () => {
    while (!isOver) {
      const answer = await askRedis(entrance, 'SET', 'written', String(written)).catch((error: unknown) =>
        String(error),
      );
      if (answer === 'OK') written++;
      else refused.push(String(answer));
    }
  })();
  await cluster.change({ mode: 'Sentinel', replicas: 3 });
  await cluster.whole(size, { withinMs: 300_000 });
  isOver = true;
  await writing;
  expect(refused).toEqual([]);
  expect(written).toBeGreaterThan(100);
  const after = await cluster.primary();
  expect([after.metadata.uid, after.status?.containerStatuses?.[0]?.restartCount]).toEqual([before.metadata.uid, 0]);
  expect(await missing()).toEqual([]);
});

test('does not go back', async () => {
  await expect(cluster.change({ mode: 'Standalone', replicas: 1 })).rejects.toThrow('mode can change from Standalone');
});

test('then hands over before the first node is deleted, and loses nothing', async () => {
  const before = await cluster.primary();
  const { gapMs } = await underWriters('after Standalone: primary deleted', stage.client, cluster, async () => {
    await removeByName(stage.client, before);
    await until('another is primary', async () => {
      expect((await cluster.primary()).metadata.name).not.toBe(before.metadata.name);
    });
    await cluster.whole(size, { withinMs: 120_000 });
  });
  expect(gapMs).toBeLessThan(5000);
  expect(await missing()).toEqual([]);
});
