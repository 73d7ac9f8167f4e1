/**
 * Since when passes over a cluster end before it has been looked at: a Secret may not be read, or what somebody has
 * written cannot be. What its status says was true before that.
 *
 * What is remembered is time and nothing else. A process that starts anew begins to count again.
 */

import type { Clock } from '../system/clock.ts';
import type { ClusterKey } from './cache.ts';

/** An API server that is restarted, or an election of its etcd, is over by then. */
export const unobservedMs = 60_000;
/** Passes that fail are repeated sooner than that. A cluster that is gone has none. */
const memoryMs = 10 * 60_000;

export interface Unobserved {
  /** Whether it has been so for long. */
  failed(key: ClusterKey): boolean;
  seen(key: ClusterKey): void;
}

export function createUnobserved(clock: Pick<Clock, 'monotonic'>): Unobserved {
  /** The one that failed last stands last. */
  const known = new Map<ClusterKey, { readonly since: number; readonly last: number }>();

  function forgetOld(now: number): void {
    for (const [key, { last }] of known) {
      if (now - last < memoryMs) return;
      known.delete(key);
    }
  }

  return {
    failed(key) {
      const now = clock.monotonic();
      forgetOld(now);
      const since = known.get(key)?.since ?? now;
      known.delete(key);
      known.set(key, { since, last: now });
      return now - since >= unobservedMs;
    },
    seen: (key) => void known.delete(key),
  };
}
