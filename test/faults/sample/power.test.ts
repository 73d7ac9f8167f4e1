/** After a failover that nobody saw and a power failure of all nodes: in whatever order the machines come back. */
import { expect, it } from 'vitest';
import { runSimulated } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';
import { emptied, orders, powerCut, powerOfTheirs } from '../scenarios/power.ts';
import { three } from '../scenarios/redis.ts';
import type { Stage } from '../scenarios/scenario.ts';

const cases = [
  { order: 'all', title: 'all at once' } as const,
  ...orders.map((order) => ({ order, title: order.join(', ') })),
];

it.each(cases)('no oracle objects where they come back so: $title', async ({ order }) => {
  const scenario = { engine: 'redis', ...powerCut(three, order) } as const;
  const run = await runSimulated({ scenario: scenario.id, seed: 1, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  // The new primary has acknowledged writes between the failover and the power failure.
  const [failover, outage] = run.ledger?.outages ?? [];
  expect((outage?.from ?? 0) - (failover?.to ?? 0)).toBeGreaterThan(20_000);
});

/** By this seed the replicas are on the machine of none of them. */
const seed = 3;

it.each([
  ['one sentinel remembers the replicas', ['db-sentinel-0', 'db-sentinel-2']],
  ['no sentinel remembers anything', ['db-sentinel-0', 'db-sentinel-1', 'db-sentinel-2']],
])('what the disk of the primary had yet to flush is not lost with its power: %s', async (_, gone) => {
  const scenario = { engine: 'redis', ...powerOfTheirs(three, gone) } as const;
  const run = await runSimulated({ scenario: scenario.id, seed, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
});

it('nor where a data node is added meanwhile, which has nobody to copy from', async () => {
  const pods = ['db-sentinel-0', 'db-sentinel-1', 'db-sentinel-2'];
  const theirs = powerOfTheirs(three, pods);
  const act = async (stage: Stage): Promise<void> => {
    const gone = [stage.primary(), ...pods];
    await stage.cutPowerAtOnce(gone);
    await stage.change({ replicas: 4 });
    await stage.pause(60_000);
    await stage.restorePower(gone);
  };
  // With the times of this run, the operator tells two sentinels of the primary, each by MONITOR and SET.
  const scenario = { engine: 'redis', ...theirs, act, writes: 31 } as const;
  const run = await runSimulated({ scenario: scenario.id, seed, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
});

it('nor is the cluster without a primary where that is back before the sentinel that remembers the replicas misses it', async () => {
  const slow = { ...three, sentinel: { downAfter: '30s', failoverTimeout: '180s' } };
  const theirs = powerOfTheirs(slow, ['db-sentinel-0', 'db-sentinel-2'], 20_000);
  const scenario = { engine: 'redis', ...theirs } as const;
  const run = await runSimulated({ scenario: scenario.id, seed, faults: [] }, scenario);
  expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
});

it.each([2, 3, 4, 5])(
  'where the primary and two sentinels are moved at once there is one primary again: seed %i',
  async (seed) => {
    const scenario = { engine: 'redis', ...emptied(three, ['db-sentinel-0', 'db-sentinel-2']) } as const;
    const run = await runSimulated({ scenario: scenario.id, seed, faults: [] }, scenario);
    expect(judge(run, run, scenario.mayDiffer)).toEqual([]);
  },
);
