/** A PostgresCluster grows and shrinks under writers that are not ours: no acknowledged commit is lost, and no number comes back. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { retiredAnnotation } from '../../src/engines/postgres/names.ts';
import { keepPostgresEvidence } from '../support/postgres-evidence.ts';
import { openPostgresLedger } from '../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-scaling');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', { instances: 1 });
  await cluster.whole(1);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

type Size = 1 | 2 | 3 | 5;

/** Loose: a restart for settings that follow from the size is a switchover. */
test.each<[from: Size, to: Size]>([
  [1, 3],
  [3, 5],
  [5, 2],
  [2, 1],
])('from %i to %i members', async (from, to) => {
  const before = (await cluster.pods()).map(({ metadata }) => metadata.name);
  const claims = (await cluster.claims()).map(({ metadata }) => metadata.name);
  const { gapMs } = await underPostgresWriters(`${from} to ${to} members`, scenario, async () => {
    await cluster.change({ instances: to });
    await cluster.whole(to);
    return undefined;
  });
  expect(gapMs).toBeLessThan(8_000);
  const after = (await cluster.pods()).map(({ metadata }) => metadata.name);
  const newcomers = after.filter((name) => !before.includes(name));
  expect(newcomers.filter((name) => claims.includes(`data-${name}`))).toEqual([]);
  const retired = (await cluster.claims()).filter(({ metadata }) => metadata.annotations?.[retiredAnnotation]);
  const left = claims.filter((name) => !after.includes(name.replace(/^data-/, '')));
  expect(retired.map(({ metadata }) => metadata.name).sort()).toEqual(left.sort());
});
