/** Something happens to an etcd while writers write: what was acknowledged must be there at the end. */
import { expect } from 'vitest';
import { openEtcdLedger } from './etcd-ledger.ts';
import type { EtcdTestCluster } from './etcd-test-cluster.ts';
import { falseReadyWhile } from './etcd-truth.ts';
import { recordResult } from './results.ts';
import { until } from './until.ts';

const warmUp = 200;

/** A probe that fails twice, the kubelet's word to the API server, a look at the members. */
const tolerableMs = 8_000;

/**
 * Runs `event`, which resolves when the cluster is whole again, under four writers. Resolves with the longest gap. That
 * nothing was lost, that all members hold the same at the end and that the status was true is expected here.
 */
export async function underEtcdWriters(
  scenario: string,
  cluster: EtcdTestCluster,
  event: () => Promise<unknown>,
  falseReadyWithinMs = tolerableMs,
): Promise<{ readonly gapMs: number }> {
  const { addresses, ask } = cluster;
  const ledger = openEtcdLedger({ addresses, ask, writers: 4, run: scenario.replaceAll(/\W+/g, '-') });
  const written = async (count: number): Promise<void> => {
    const goal = ledger.acknowledged + count;
    await until(`${count} writes acknowledged`, () => {
      if (ledger.acknowledged < goal) throw new Error(`${ledger.acknowledged} of ${goal}`);
    });
  };
  let gapMs: number;
  let tookMs = 0;
  let falseReadyMs: number;
  try {
    await written(warmUp);
    ledger.mark();
    const beganAt = performance.now();
    falseReadyMs = await falseReadyWhile(cluster, async () => {
      await event();
      tookMs = performance.now() - beganAt;
    });
    await written(warmUp);
    gapMs = ledger.gapSinceMark();
  } catch (error) {
    ledger.stop();
    throw error;
  }
  const { acknowledged, lost, unread } = await ledger.close();
  // A member that lags behind cannot say yet what it holds at that moment.
  const hashes = await until('every member says what it holds', () => cluster.hashes());
  await recordResult({
    scenario: `etcd: ${scenario}`,
    gapMs,
    acknowledged,
    lost: lost.length,
    measured: `whole after ${(tookMs / 1000).toFixed(1)} s, ${(falseReadyMs / 1000).toFixed(1)} s falsely Ready`,
  });
  expect(hashes.size).toBe(1);
  expect(falseReadyMs).toBeLessThan(falseReadyWithinMs);
  expect({ lost: lost.slice(0, 10), unread: unread.slice(0, 10) }).toEqual({ lost: [], unread: [] });
  return { gapMs };
}
