/** What a pass over a cluster came to, and when the next one is due. */
import type { Cluster } from '../api/cluster.ts';
import { type Outcome, wait } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';

export interface ReconcileResult {
  readonly outcome: Outcome;
  /** Milliseconds after which to look again; undefined: a watch or a listener will tell. */
  readonly again?: number;
  /** An engine's action was taken, or a Secret made, and not for long already: what it has changed is soon to be seen. */
  readonly hasActed?: boolean;
  /** The cluster as it was understood; undefined while it is invalid or on its way out. */
  readonly understood?: { readonly cluster: Cluster; readonly children: Children };
}

/** What somebody has to change is looked at again after so long where no watch may tell that they have. */
export const blockedMs = 30_000;

/** The watch is late; it need not be asked after often. */
const outdatedMs = 1_000;

export const stale: ReconcileResult = {
  outcome: wait('Outdated', 'the cluster has changed, or is gone'),
  again: outdatedMs,
};

/** When the plan asks to look again. */
export function recheck(outcome: Outcome): number | undefined {
  return outcome.recheckMs;
}

/** `statusLater`: when to come back for a status that has not been written; 0 if it has. */
export function lookAfter(asked: number | undefined, statusLater: number): Pick<ReconcileResult, 'again'> {
  const again = soonest(asked, statusLater === 0 ? undefined : statusLater);
  return again === undefined ? {} : { again };
}

export function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
