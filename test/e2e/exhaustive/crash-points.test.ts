/**
 * Every write is a crash point: the operator is killed after each single write it makes, started anew without memory,
 * and the cluster ends as it does without crashes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { childrenAtRest, killedAfterEveryWrite, reportCrashes, undisturbed } from '../../support/crash-points.ts';
import type { Size, TestCluster } from '../../support/redis-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('crashes');
});

afterAll(() => stage.close());

const whole = (cluster: TestCluster, size: Size) => () => cluster.whole(size, { withinMs: 0 });

describe('killed after every write it makes, the operator', () => {
  const created = { data: 3, sentinels: 3 };
  let steady: TestCluster;
  let shaken: TestCluster;

  test('creates the same cluster', async () => {
    steady = await stage.create('steady');
    const without = await undisturbed(stage, whole(steady, created));
    shaken = await stage.create('shaken');
    const crashed = await killedAfterEveryWrite(stage, whole(shaken, created));
    await reportCrashes('create', without, crashed);
    expect(without.length, without.join('\n')).toBeLessThan(60);
    expect(await childrenAtRest(stage, shaken)).toEqual(await childrenAtRest(stage, steady));
    expect(crashed.length).toBeGreaterThanOrEqual(10);
  });

  test('scales from three to five and back to three, and keeps the data', async () => {
    const missing = await shaken.load('kept', 500);
    const without: string[] = [];
    const crashed: string[] = [];
    for (const replicas of [5, 3]) {
      const size = { data: replicas, sentinels: 3 };
      await steady.change({ replicas });
      without.push(...(await undisturbed(stage, whole(steady, size))));
      await shaken.change({ replicas });
      crashed.push(...(await killedAfterEveryWrite(stage, whole(shaken, size))));
    }
    await reportCrashes('scale 3→5→3', without, crashed);
    // A planner that asks for the same thing again and again shows here.
    expect(without.length, without.join('\n')).toBeLessThan(120);
    expect(await childrenAtRest(stage, shaken)).toEqual(await childrenAtRest(stage, steady));
    expect(await missing()).toEqual([]);
  });
});
