/**
 * The power of all nodes fails after a failover that the operator has not seen: its claims name the primary of before, and the
 * sentinels forget what they knew. Only the volumes tell whose writes were acknowledged last.
 */
import type { Scenario, Spec, Stage } from './scenario.ts';

/** The primary of before the failover, the one after it, and the third. */
export type Returning = 'old' | 'new' | 'third';

/** In which order the machines of the data nodes come back. */
export const orders: readonly (readonly Returning[])[] = [
  ['old', 'third', 'new'],
  ['old', 'new', 'third'],
  ['new', 'old', 'third'],
  ['new', 'third', 'old'],
  ['third', 'old', 'new'],
  ['third', 'new', 'old'],
];

/** Of a cluster of three. */
const members = ['db-0', 'db-1', 'db-2'];

/** For a failover, for the probes that note the term on the volumes after it, and for the faults of a plan that begin meanwhile. */
const awayMs = 60_000;
/** For a node to start, and for the operator to take what it sees for all that there is. */
const apartMs = 8_000;

async function failOverUnseen(stage: Stage): Promise<Readonly<Record<Returning, string>>> {
  const old = stage.primary();
  await stage.cutPower([old]);
  await stage.pause(awayMs);
  const successor = stage.primary();
  const third = members.find((pod) => pod !== old && pod !== successor);
  if (successor === old || third === undefined) throw new Error('nobody has failed over');
  return { old, new: successor, third };
}

/** For the sentinel that is left to miss the primary, and to find that it cannot elect. */
const gapMs = 60_000;

/**
 * What one machine may hold: the primary, and two sentinels of three. With the power go the sentinels' memory and the last second of the primary's
 * append-only file; the replicas have it.
 */
export function powerOfTheirs(before: Spec, gone: readonly string[], awayForMs = gapMs): Omit<Scenario, 'engine'> {
  return {
    id: 'S15 machine',
    title: 'power of the primary and of two sentinels',
    before: { ...before, scheduling: { topologySpread: 'Required' } },
    async act(stage) {
      const pods = [stage.primary(), ...gone];
      await stage.cutPowerAtOnce(pods);
      await stage.pause(awayForMs);
      await stage.restorePower(pods);
    },
    end: 'whole',
    writes: 30,
    written: true,
  };
}

/**
 * What one machine may hold, and loses at once where somebody taints it (`NoExecute`): the others have yet to miss the primary when those that
 * are made again elsewhere are there.
 */
export function emptied(before: Spec, gone: readonly string[]): Omit<Scenario, 'engine'> {
  return {
    id: 'S15 emptied',
    title: 'pods of the primary and of two sentinels deleted at once',
    before,
    async act(stage) {
      await Promise.all([stage.primary(), ...gone].map((pod) => stage.deletePod(pod)));
    },
    end: 'whole',
    writes: 30,
    written: true,
  };
}

/** `all`: at once. The operator is back before the first of them. */
export function powerCut(before: Spec, order: readonly Returning[] | 'all'): Omit<Scenario, 'engine'> {
  return {
    id: 'S15 power',
    title: 'failover while the operator is down, then power loss on all nodes',
    // Each on a machine of its own.
    before: { ...before, scheduling: { topologySpread: 'Required' } },
    async act(stage) {
      await stage.stopOperator();
      const pods = await failOverUnseen(stage);
      await stage.cutPower('all');
      await stage.pause(3_000);
      stage.startOperator();
      for (const which of order === 'all' ? [] : order) {
        await stage.restorePower([pods[which]]);
        await stage.pause(apartMs);
      }
      await stage.restorePower('all');
    },
    end: 'whole',
    writes: 30,
    written: true,
    discovery: 'database',
  };
}
