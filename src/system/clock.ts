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

/** Resolves after `ms`; rejects with a signal's reason as soon as one of them aborts. */
export function sleep(clock: Clock, ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = signals.find((signal) => signal?.aborted);
    if (aborted !== undefined) return reject(aborted.reason);
    const leave = (): void => {
      for (const signal of signals) signal?.removeEventListener('abort', abort);
    };
    const abort = ({ target }: Event): void => {
      cancel();
      leave();
      reject((target as AbortSignal).reason);
    };
    const cancel = clock.after(ms, () => {
      leave();
      resolve();
    });
    for (const signal of signals) signal?.addEventListener('abort', abort);
  });
}
