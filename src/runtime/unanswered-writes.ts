/**
 * Writes that have left this process and may still take effect: those on their way, and those whose answer never came.
 *
 * Whoever leads next must not meet one of them. Nobody can tell when a write without an answer is over; it counts for as
 * long as a standby waits for a leader that died, so that a process that ends is never less safe than one that is killed.
 */
import type { Clock } from '../system/clock.ts';

export interface UnansweredWrites {
  /** Runs a write, which calls `sent` when it leaves this process. A rejection after that is no answer. */
  track<Answer>(write: (sent: () => void) => Promise<Answer>): Promise<Answer>;
  readonly any: boolean;
}

/** `forMs`: how long a write without an answer counts. */
export function createUnansweredWrites(clock: Clock, forMs: number): UnansweredWrites {
  let onTheirWay = 0;
  let inDoubtUntil = Number.NEGATIVE_INFINITY;
  return {
    async track(write) {
      let isSent = false;
      const sent = (): void => {
        if (!isSent) onTheirWay++;
        isSent = true;
      };
      try {
        return await write(sent);
      } catch (error) {
        if (isSent) inDoubtUntil = clock.monotonic() + forMs;
        throw error;
      } finally {
        if (isSent) onTheirWay--;
      }
    },
    get any() {
      return onTheirWay > 0 || clock.monotonic() < inDoubtUntil;
    },
  };
}
