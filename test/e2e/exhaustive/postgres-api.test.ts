/**
 * PostgreSQL and the API server: while it is away for all members they go on by asking each other, and a primary that is cut off from
 * it and from its peers steps down before another one is elected.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Pod } from '../../../src/resources/children.ts';
import { cutFromApi, cutPods, healFromApi, healPods } from '../../../src/sandbox/faults/cut.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-api');
  await stage.startOperator();
  cluster = await stage.createPostgres('p');
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const refOf = ({ metadata: { name } }: Pod) => ({ namespace: stage.namespace, name });
const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

describe.each([
  ['refuse', 120, 2_000],
  ['hang', 60, 10_000],
] as const)('while the API server is to %s for %i s for all members', (outage, forSeconds, withinMs) => {
  test('the same primary goes on', async () => {
    const pods = (await cluster.pods()).map(refOf);
    const before = (await cluster.primary()).metadata.name;
    const { gapMs } = await underPostgresWriters(`API ${outage}s ${forSeconds} s`, scenario, async () => {
      await cutFromApi(pods, outage);
      try {
        await pause(forSeconds);
      } finally {
        await healFromApi(pods);
      }
      await cluster.whole(3);
      return undefined;
    });
    expect((await cluster.primary()).metadata.name).toBe(before);
    expect(gapMs).toBeLessThan(withinMs);
  });
});

test('a primary that reaches neither the API server nor its peers steps down, and comes back as a standby', async () => {
  const before = await cluster.primary();
  const old = refOf(before);
  const address = before.status?.podIP ?? '';
  const peers = (await cluster.standbys()).map(refOf);
  const { ledger } = scenario;
  const { gapMs } = await underPostgresWriters('primary cut off from API and peers', scenario, async () => {
    await cutFromApi([old], 'hang');
    for (const peer of peers) await cutPods(old, peer);
    const cutAt = Date.now();
    let stoppedAt = 0;
    let electedAt = 0;
    try {
      // Clients still reach it, and it is asked in its own pod.
      const stopping = until('the old primary takes no writes', async () => {
        const answer = await cluster.sql(old.name, 'select pg_is_in_recovery()').catch(() => 'stopped');
        expect(answer).not.toBe('f');
        stoppedAt = Date.now();
      });
      await until('another primary', async () => expect((await cluster.primary()).metadata.name).not.toBe(old.name));
      electedAt = Date.now();
      await stopping;
      await until('the new one acknowledges', async () => {
        const servers = await ledger.serversSinceMark();
        expect(servers.at(-1)).not.toBe(address);
      });
    } finally {
      await healFromApi([old]);
      for (const peer of peers) await healPods([old, peer]);
    }
    const healedAt = Date.now();
    await until('the old one streams from the new one', async () => {
      expect(await cluster.sql(old.name, 'select status from pg_stat_wal_receiver')).toBe('streaming');
    });
    const streamedMs = Date.now() - healedAt;
    await expect(ledger.query("insert into ledger values ('stale', 0, 0, '')", address)).rejects.toThrow(/read-only/);
    const last = (await ledger.lastBy(address)) ?? cutAt;
    await cluster.whole(3);
    expect(stoppedAt - cutAt).toBeLessThan(40_000);
    expect(streamedMs).toBeLessThan(120_000);
    return [
      `the old one acknowledged for ${seconds(Math.max(0, last - cutAt))} after the cut`,
      `stopped after ${seconds(stoppedAt - cutAt)}`,
      `elected after ${seconds(electedAt - cutAt)}`,
      `streams ${seconds(streamedMs)} after it was healed`,
    ].join(', ');
  });
  expect(gapMs).toBeLessThan(48_000);
});
