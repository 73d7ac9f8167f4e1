/** Growing delays between attempts, spread by chance so that many clients of one broken server do not come back at once. */
import type { Random } from '../system/clock.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly random: Random;
  /** Default 2. */
  readonly factor?: number;
  /** Each delay is drawn from ±this part of its nominal value. Default 0.25. */
  readonly jitter?: number;
}

export interface Backoff {
  /** The delay before the next attempt, in milliseconds: base, base·factor, ... up to the maximum. */
  next(): number;
  reset(): void;
}

export function createBackoff(options: BackoffOptions): Backoff {
  const { baseMs, maxMs, random, factor = 2, jitter = 0.25 } = options;
  let nominal = baseMs;
  return {
    next() {
      const delay = nominal * (1 - jitter + 2 * jitter * random());
      nominal = Math.min(maxMs, nominal * factor);
      return delay;
    },
    reset() {
      nominal = baseMs;
    },
  };
}
