/** An etcd is born, grows, shrinks and grows again, under writers whose every acknowledged write is counted. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { retiredAnnotation } from '../../src/engines/etcd/names.ts';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { underEtcdWriters } from '../support/etcd-scenario.ts';
import { type EtcdTestCluster, readKeys, writeKeys } from '../support/etcd-test-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-scaling');
  await stage.startOperator();
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

describe('an etcd', () => {
  test('of three members is formed at once, spread over the machines, in a namespace that enforces restricted', async () => {
    const startedAt = performance.now();
    cluster = await stage.createEtcd('e');
    const readiness = async (): Promise<void> => {
      const { conditions } = await cluster.status();
      expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
    };
    await until('the cluster Ready', readiness, { withinMs: 120_000, everyMs: 50 });
    const readyMs = performance.now() - startedAt;
    await recordResult({ scenario: 'etcd: create 3', measured: `Ready after ${(readyMs / 1000).toFixed(1)} s` });
    const pods = await cluster.whole(3);
    expect(pods.map(({ spec }) => spec?.nodeName).sort()).toEqual(['node1', 'node2', 'node3']);
    expect(stage.warnings).toEqual([]);
  });

  test('grows to five members', async () => {
    await underEtcdWriters('3 to 5 members', cluster, async () => {
      await cluster.change({ replicas: 5 });
      await cluster.whole(5, { withinMs: 120_000 });
    });
  });

  test('shrinks to three members', async () => {
    await underEtcdWriters('5 to 3 members', cluster, async () => {
      await cluster.change({ replicas: 3 });
      await cluster.whole(3, { withinMs: 120_000 });
    });
  });

  test('shrinks to one member, and its volumes are kept apart', async () => {
    const { gapMs } = await underEtcdWriters('3 to 1 members', cluster, async () => {
      await cluster.change({ replicas: 1 });
      await cluster.whole(1, { withinMs: 120_000 });
    });
    expect(gapMs).toBeLessThan(10_000);
    const retired = (await cluster.claims()).filter(
      ({ metadata }) => metadata.annotations?.[retiredAnnotation] !== undefined,
    );
    expect(retired.length).toBe(4);
  });

  test('grows again, and nobody meets old data', async () => {
    const before = new Set((await cluster.claims()).map(({ metadata }) => metadata.name));
    await underEtcdWriters('1 to 3 members after that', cluster, async () => {
      await cluster.change({ replicas: 3 });
      await cluster.whole(3, { withinMs: 120_000 });
    });
    const names = (await cluster.pods()).map(({ metadata }) => `data-${metadata.name}`);
    expect(names.filter((name) => before.has(name)).length).toBe(1);
  });

  test('parks, and comes back as the same cluster with the same data', async () => {
    await writeKeys(cluster, 'parked', 100);
    const members = (await cluster.status()).members?.map(({ id }) => id);
    const volumes = await cluster.view();
    await cluster.change({ replicas: 0 });
    await until('nobody runs, and it says so', async () => {
      expect([(await cluster.pods()).length, await cluster.ready()]).toEqual([0, 'True Parked']);
    });
    const askedAt = performance.now();
    await cluster.change({ replicas: 3 });
    await cluster.whole(3, { withinMs: 120_000 });
    await recordResult({
      scenario: 'etcd: back from 0 members',
      measured: `whole after ${((performance.now() - askedAt) / 1000).toFixed(1)} s`,
    });
    expect(await readKeys(cluster, 'parked')).toBe(100);
    expect((await cluster.status()).members?.map(({ id }) => id)).toEqual(members);
    expect(await cluster.view()).toEqual(volumes);
  });
});
