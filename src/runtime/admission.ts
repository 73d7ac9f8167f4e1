/**
 * When a pass may begin, so that the event loop has its turns: without them neither an answer nor the lease gets through.
 *
 * What has just happened and everything else wait in a line each, in which nobody overtakes. Both have passes of their own
 * that the other line cannot take: clusters that report all the time delay the rechecks of the others, and end none.
 */
import type { Clock } from '../system/clock.ts';

/**
 * Passes over quiet clusters wait for nothing. After so long without a turn of the event loop no pass begins before it
 * has had one: thousands of such passes in a row would let neither an answer nor the lease's own timer through.
 */
const turnMs = 10;
/**
 * Passes that have begun take what time their answers cost, whoever sends them. A turn that took so long shows that they
 * are too many: for a while no more than a few run at once, and as many again for what has just happened. The lease needs
 * a few turns in ten seconds.
 */
const slowTurnMs = 250;
const slowForMs = 5_000;
const whenSlow = 8;
/** Of the others, however many of those that have just happened run. */
const keptForOthers = 2;

export type Line = 'events' | 'others';

export interface Admission {
  /** Resolves when a pass may begin. The caller owes a `leave`. */
  enter(line: Line): Promise<void>;
  leave(line: Line): void;
  /** Passes that have begun and are not over. */
  readonly running: number;
}

export function createAdmission(clock: Clock): Admission {
  const running: Record<Line, number> = { events: 0, others: 0 };
  const last: Record<Line, Promise<void>> = { events: Promise.resolve(), others: Promise.resolve() };
  /** When the first pass began since the event loop had its last turn. */
  let busySince: number | undefined;
  let turn: Promise<void> = Promise.resolve();
  let slowUntil = Number.NEGATIVE_INFINITY;

  function awaitTurn(): Promise<void> {
    if (busySince !== undefined) return turn;
    const since = clock.monotonic();
    busySince = since;
    turn = new Promise((resolve) => {
      clock.after(0, () => {
        busySince = undefined;
        const now = clock.monotonic();
        if (now - since >= slowTurnMs) slowUntil = now + slowForMs;
        resolve();
      });
    });
    return turn;
  }

  function areTooMany(line: Line): boolean {
    if (clock.monotonic() >= slowUntil) return false;
    const all = running.events + running.others;
    return line === 'events'
      ? all >= 2 * whenSlow && running.events >= whenSlow
      : all >= whenSlow && running.others >= keptForOthers;
  }

  async function admitted(line: Line): Promise<void> {
    // Asked again after the turn, by one after the other: the one before may have used up what it was given.
    while (busySince !== undefined && clock.monotonic() - busySince >= turnMs) await turn;
    while (areTooMany(line)) await awaitTurn();
    void awaitTurn();
    running[line]++;
  }

  return {
    enter(line) {
      last[line] = last[line].then(() => admitted(line));
      return last[line];
    },
    leave(line) {
      running[line]--;
    },
    get running() {
      return running.events + running.others;
    },
  };
}
