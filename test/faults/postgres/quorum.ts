/**
 * In which order the standbys that a commit waits for, and those that an election asks, change: at every moment, whoever may
 * acknowledge a commit and whoever may elect have a member in common.
 */
import type { SyncState } from './store.ts';

/** Of the server: `synchronous_standby_names`. */
export interface Waiting {
  readonly names: readonly string[];
  readonly count: number;
}

export type Transition =
  | { readonly change: 'store'; readonly voters: readonly string[]; readonly quorum: number }
  | { readonly change: 'server'; readonly names: readonly string[]; readonly count: number };

const same = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((name) => others.includes(name));

/** The next step; undefined where all is as it should be. `caughtUp`: those that the server waits for have what it has written. */
export function nextTransition(
  own: string,
  sync: SyncState,
  waiting: Waiting,
  active: readonly string[],
  wanted: number,
  caughtUp: boolean,
): Transition | undefined {
  if (sync.leader !== own) {
    // The former leader may have the last commit: it is asked from now on.
    const voters = [...new Set([...sync.voters, sync.leader])].filter((name) => name !== own && name !== '').sort();
    const count = Math.max(0, voters.length - sync.quorum);
    if (waiting.names.length === 0 && count > 0) return { change: 'server', names: voters, count };
    return { change: 'store', voters, quorum: sync.quorum };
  }
  const count = Math.min(wanted, active.length);
  const isServerDone = same(waiting.names, active) && waiting.count === count;
  if (isServerDone && same(sync.voters, active) && sync.quorum === active.length - count) return undefined;
  if (active.length === 0) {
    // First nobody else may be elected, then commits wait for nobody.
    return sync.voters.length > 0
      ? { change: 'store', voters: [], quorum: 0 }
      : { change: 'server', names: [], count: 0 };
  }
  if (waiting.names.length === 0) return { change: 'server', names: active, count };
  if (isServerDone) {
    return caughtUp ? { change: 'store', voters: active, quorum: active.length - count } : undefined;
  }
  const either = [...new Set([...waiting.names, ...active])].sort();
  const quorum = either.length - Math.min(waiting.count, count);
  if (sync.voters.length > 0 && !(same(sync.voters, either) && sync.quorum === quorum))
    return { change: 'store', voters: either, quorum };
  return { change: 'server', names: active, count };
}
