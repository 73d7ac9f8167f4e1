/** Something happens to a PostgresCluster while writers write: what was acknowledged must be there at the end. */
import { expect } from 'vitest';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { PostgresLedger } from './postgres-ledger.ts';
import { prepareSoundness, soundnessOf } from './postgres-soundness.ts';
import type { PostgresTestCluster } from './postgres-test-cluster.ts';
import { recordResult } from './results.ts';
import { until } from './until.ts';

const warmUp = 100;

export interface PostgresOutcome {
  /** Longest time without an acknowledged write from the event on. */
  readonly gapMs: number;
  /** From the beginning of the event to its end, which is when the cluster is whole again. */
  readonly tookMs: number;
}

export interface PostgresScenario {
  readonly cluster: PostgresTestCluster;
  readonly ledger: PostgresLedger;
}

/**
 * Runs `event`, which resolves when the cluster is whole again, under four writers. That nothing was lost, that members acknowledged
 * one after the other and never two at a time, that all are on one timeline, hold the same and are not damaged is expected here.
 * `event` may resolve with words for the report.
 */
export async function underPostgresWriters(
  scenario: string,
  { cluster, ledger }: PostgresScenario,
  event: () => Promise<string | undefined>,
): Promise<PostgresOutcome> {
  const written = async (count: number): Promise<void> => {
    const goal = (await ledger.count()) + count;
    await until(`${count} writes acknowledged`, async () => {
      const found = await ledger.count();
      if (found < goal) throw new Error(`${found} of ${goal}: ${JSON.stringify(await ledger.errors())}`);
    });
  };
  await ledger.resume();
  await written(warmUp);
  await prepareSoundness(cluster);
  const before = await ledger.count();
  ledger.mark();
  const beganAt = performance.now();
  const words = await event();
  const tookMs = performance.now() - beganAt;
  await written(warmUp);
  const gapMs = await ledger.gapSinceMark();
  const gaps = await ledger.gapsSinceMark(1000);
  const servers = await ledger.serversSinceMark();
  await ledger.pause();
  const acknowledged = (await ledger.count()) - before;
  const lost = await ledger.lost();
  const { members = [] } = (await cluster.status()) as ClusterStatus;
  const { timelines, digests, damage } = await soundnessOf(
    cluster,
    members.map(({ name }) => name),
  );
  const more = gaps.length > 1 ? [`gaps over a second: ${gaps.join(', ')}`] : [];
  await recordResult({
    scenario: `postgres: ${scenario}`,
    gapMs,
    acknowledged,
    lost: lost.length,
    measured: [`whole after ${(tookMs / 1000).toFixed(1)} s`, ...more, ...(words === undefined ? [] : [words])].join(
      ', ',
    ),
  });
  expect({ lost: lost.slice(0, 10), damage }).toEqual({ lost: [], damage: [] });
  expect([timelines.length, digests.length], JSON.stringify({ timelines, digests })).toEqual([1, 1]);
  // Nobody acknowledges again after somebody else has.
  expect(servers).toEqual([...new Set(servers)]);
  return { gapMs, tookMs };
}
