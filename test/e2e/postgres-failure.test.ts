/**
 * A PostgresCluster is created, and then its primary goes in the ways in which it goes most often, under writers that are not ours:
 * no acknowledged commit is lost, and nobody acknowledges beside the primary.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { removeByName } from '../support/kubernetes.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { keepPostgresEvidence } from '../support/postgres-evidence.ts';
import { openPostgresLedger } from '../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../support/postgres-test-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let operator: OperatorProcess;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-failure');
  operator = await stage.startOperator();
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

/** Waits until another pod than this one holds the lock; resolves with its name. */
async function movedFrom(name: string): Promise<string> {
  return until('another primary', async () => {
    const { metadata } = await cluster.primary();
    expect(metadata.name).not.toBe(name);
    return metadata.name;
  });
}

test('a cluster of which nothing is said has three members, and is Ready when commits wait for a standby', async () => {
  const startedAt = performance.now();
  cluster = await stage.createPostgres('p');
  await until('Ready', async () => expect(await cluster.ready()).toMatch(/^True/), { everyMs: 50 });
  const readyMs = performance.now() - startedAt;
  await recordResult({ scenario: 'postgres: create 3', measured: `Ready after ${(readyMs / 1000).toFixed(1)} s` });
  const pods = await cluster.whole(3);
  expect(pods.map(({ spec }) => spec?.nodeName).sort()).toEqual(['node1', 'node2', 'node3']);
  expect(stage.warnings).toEqual([]);
  const primary = (await cluster.primary()).metadata.name;
  const names = await cluster.sql(primary, 'show synchronous_standby_names');
  expect(names).toMatch(/^ANY 1 \(/);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
  expect(readyMs).toBeLessThan(60_000);
});

describe('no acknowledged commit is lost when', () => {
  test('somebody asks for a switchover', async () => {
    const before = (await cluster.primary()).metadata.name;
    const { gapMs } = await underPostgresWriters('switchover', scenario, async () => {
      await cluster.switchover();
      await movedFrom(before);
      await cluster.whole(3);
      return undefined;
    });
    expect(gapMs).toBeLessThan(8_000);
  });

  test('the pod of the primary is deleted', async () => {
    const before = await cluster.primary();
    const { gapMs } = await underPostgresWriters('primary pod deleted', scenario, async () => {
      await removeByName(stage.client, before);
      await movedFrom(before.metadata.name);
      await cluster.whole(3);
      return undefined;
    });
    expect(gapMs).toBeLessThan(10_000);
  });

  test('the postmaster of the primary is killed while the operator is away', async () => {
    const before = (await cluster.primary()).metadata.name;
    const { gapMs } = await underPostgresWriters('postmaster killed, operator away', scenario, async () => {
      await operator.stop();
      await cluster.shell(before, 'kill -9 $(head -1 /var/lib/postgresql/data/postmaster.pid)');
      await movedFrom(before);
      operator = await stage.startOperator();
      await cluster.whole(3);
      return undefined;
    });
    expect(gapMs).toBeLessThan(14_000);
  });
});
