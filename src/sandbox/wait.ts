/** Waiting for another process: polled, bounded, and with a reason when the bound is reached. */
import { type Clock, sleep, systemClock } from '../system/clock.ts';
import { SandboxError } from './error.ts';

export interface WaitOptions {
  /** Milliseconds; default 120 000. */
  readonly timeout?: number;
  /** Milliseconds between two looks; default 50. */
  readonly interval?: number;
  readonly clock?: Clock;
}

/**
 * Resolves with the first value of `look` that is not undefined.
 *
 * @throws SandboxError naming `what` when the time is up; what `look` throws passes through.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined>,
  options: WaitOptions = {},
): Promise<T> {
  const clock = options.clock ?? systemClock;
  const timeout = options.timeout ?? 120_000;
  const deadline = clock.monotonic() + timeout;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (clock.monotonic() >= deadline) throw new SandboxError(`${what}: not after ${timeout / 1000} s`);
    await sleep(clock, options.interval ?? 50);
  }
}
