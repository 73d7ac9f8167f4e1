/**
 * Which part of what is stored is confirmed to the primary. With `synchronous.strict` and no standby, Patroni has commits wait for any
 * connection that follows the log (`ANY 1 (*)`), and PostgreSQL counts everybody who confirms a position. An archive that does would
 * acknowledge commits that no standby has. So it confirms what a standby has as well, and nothing while there is no standby.
 */
import type { Lsn } from '../client/lsn.ts';

/** Whether a standby on this timeline has the log up to there on its disk. */
export type StandbyHas = (timeline: number, upTo: Lsn) => Promise<boolean>;

export interface Reported {
  /** 0 confirms nothing. */
  readonly flushed: Lsn;
  /** What a primary that stops waits for where nothing is confirmed. */
  readonly written: Lsn;
}

export interface Confirmation {
  reported(stored: Lsn): Reported;
  /** Asks once, unless an answer is still awaited. `told` is called when what is reported may have changed. */
  ask(timeline: number, stored: Lsn, told: () => void): void;
}

/** `has` undefined: what is stored is confirmed. */
export function confirmation(has: StandbyHas | undefined): Confirmation {
  if (has === undefined) return { reported: (stored) => ({ flushed: stored, written: stored }), ask: () => undefined };
  let confirmed: Lsn = 0n;
  let isAsking = false;
  return {
    reported: (stored) => ({ flushed: confirmed, written: confirmed === 0n ? stored : confirmed }),
    ask(timeline, stored, told) {
      if (isAsking) return;
      isAsking = true;
      const heard = (isThere: boolean): void => {
        isAsking = false;
        confirmed = isThere ? stored : 0n;
        told();
      };
      has(timeline, stored).then(heard, () => heard(false));
    },
  };
}
