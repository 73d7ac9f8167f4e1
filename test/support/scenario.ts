/** A fault while writers write: what was acknowledged must be there at the end, and there was never a second primary. */
import { expect } from 'vitest';
import type { KubeClient } from '../../src/runtime/client.ts';
import { guardEndpoints } from './endpoint-guard.ts';
import { openLedger } from './ledger.ts';
import type { TestCluster } from './redis-cluster.ts';
import { recordResult } from './results.ts';
import { until } from './until.ts';

/** Acknowledged writes before the fault, and again after it. */
const warmUp = 500;

export interface Outcome {
  /** Longest time without an acknowledged write from the fault on. */
  readonly gapMs: number;
  readonly acknowledged: number;
}

/**
 * Runs `fault`, which resolves when the cluster is whole again, under four writers with `WAIT 1`. `proxies`: how many clients are led to; of a
 * proxy nobody can tell which node takes a write.
 */
export async function underWriters(
  scenario: string,
  client: KubeClient,
  cluster: TestCluster,
  fault: () => Promise<unknown>,
  { proxies = 0 }: { readonly proxies?: number } = {},
): Promise<Outcome> {
  const entrance = await cluster.entrance();
  const { namespace, name } = cluster;
  const { password } = entrance;
  const guard = guardEndpoints({ client, namespace, name, password });
  const ledger = openLedger({ entrance, writers: 4, run: scenario.replaceAll(/\W+/g, '-') });
  const written = async (count: number): Promise<void> => {
    const goal = ledger.acknowledged + count;
    await until(`${count} writes acknowledged`, () => {
      if (ledger.acknowledged < goal) throw new Error(`${ledger.acknowledged} of ${goal}`);
    });
  };
  let gapMs: number;
  try {
    await written(warmUp);
    ledger.mark();
    await fault();
    await written(warmUp);
    gapMs = ledger.gapSinceMark();
  } catch (error) {
    ledger.stop();
    await guard.close();
    throw error;
  }
  const { acknowledged, lost } = await ledger.close();
  const { mostEndpoints, mostLabelled, violations, sweeps } = await guard.close();
  await recordResult({ scenario, gapMs, acknowledged, lost: lost.length });
  expect({ lost: lost.slice(0, 10), mostLabelled, violations: proxies === 0 ? violations : [] }).toEqual({
    lost: [],
    mostLabelled: 1,
    violations: [],
  });
  expect(mostEndpoints).toBeLessThanOrEqual(Math.max(1, proxies));
  // A guard that did not look has seen nothing.
  expect(sweeps).toBeGreaterThan(10);
  return { gapMs, acknowledged };
}
