/**
 * Every write of a scale-out and a scale-in of an etcd is a crash point: the operator is killed after each, and the
 * cluster ends as it does without crashes, with every write that clients were promised.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { childrenAtRest, killedAfterEveryWrite, reportCrashes, undisturbed } from '../../support/crash-points.ts';
import { keepEtcdEvidence } from '../../support/etcd-evidence.ts';
import { underEtcdWriters } from '../../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let steady: EtcdTestCluster;
let shaken: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-crashes');
});
afterEach((context) => keepEtcdEvidence(context, stage, shaken));
afterAll(() => stage.close());

const whole = (cluster: EtcdTestCluster, size: number) => () => cluster.whole(size, { withinMs: 0 });

test('killed after every write it makes, the operator forms the same etcd', async () => {
  steady = await stage.createEtcd('steady');
  const without = await undisturbed(stage, whole(steady, 3));
  shaken = await stage.createEtcd('shaken');
  const crashed = await killedAfterEveryWrite(stage, whole(shaken, 3));
  await reportCrashes('etcd of 3', without, crashed);
  expect(without.length, without.join('\n')).toBeLessThan(40);
  expect(await childrenAtRest(stage, shaken)).toEqual(await childrenAtRest(stage, steady));
  expect(crashed.length).toBeGreaterThanOrEqual(10);
});

test('it scales it from three to five and back to three, and no acknowledged write is lost', async () => {
  const without: string[] = [];
  const crashed: string[] = [];
  await underEtcdWriters('3 to 5 to 3, every write a crash', shaken, async () => {
    for (const size of [5, 3] as const) {
      await steady.change({ replicas: size });
      without.push(...(await undisturbed(stage, whole(steady, size))));
      await shaken.change({ replicas: size });
      crashed.push(...(await killedAfterEveryWrite(stage, whole(shaken, size))));
    }
  });
  await reportCrashes('etcd 3→5→3', without, crashed);
  // A planner that asks for the same thing again and again shows here.
  expect(without.length, without.join('\n')).toBeLessThan(80);
  expect(await childrenAtRest(stage, shaken)).toEqual(await childrenAtRest(stage, steady));
});
