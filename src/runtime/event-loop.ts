/** Whether the event loop turns: what the liveness check asks. */
import type { Check } from './health.ts';

/** Longest block that is tolerated, in milliseconds: half the renew deadline of the lease. */
export const longestBlockMs = 5_000;

/** Delays of the event loop in nanoseconds, as `monitorEventLoopDelay` of Node gathers them. */
export interface DelayHistogram {
  readonly max: number;
  reset(): void;
}

/**
 * Fails where the event loop was blocked for too long since the last question. A share of all delays would not tell:
 * after an hour, a block of seconds is far below one in a hundred of them.
 */
export function eventLoopCheck(delays: DelayHistogram): Check {
  return () => {
    const blockedMs = delays.max / 1e6;
    delays.reset();
    return blockedMs > longestBlockMs ? `the event loop was blocked for ${Math.round(blockedMs)} ms` : undefined;
  };
}
