/**
 * Time, injected. Nothing in `runtime/` or in an engine calls `Date.now`, `setTimeout` or `Math.random` itself, so a
 * test can hold the clock and replay a run from its seed.
 */

export interface Clock {
  /** Wall time in milliseconds since the epoch: for timestamps that people and other processes read. */
  now(): number;
  /** Milliseconds that only ever grow: for measuring spans and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, call: () => void): () => void;
}

/** A number in [0, 1), as `Math.random`. */
export type Random = () => number;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}
