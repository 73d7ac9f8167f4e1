/**
 * Time that passes only when there is nothing left to do.
 *
 * Every actor of a simulated run takes its time from here: the operator, the nodes, the database processes. A timer is
 * due in the order of its time, and in the order of its making where times are equal, so one seed gives one history.
 * Between two timers the event loop turns until all promises and streams in memory have settled.
 */
import type { Clock } from '../../../src/system/clock.ts';

interface Timer {
  readonly at: number;
  readonly made: number;
  call: (() => void) | undefined;
}

export interface VirtualTime extends Clock {
  /** Runs what falls due within the next `ms`, then stands there. */
  advance(ms: number): Promise<void>;
  /** Runs timers until the condition holds, asked after each one. False when it did not within `ms`. */
  advanceUntil(holds: () => boolean, ms: number): Promise<boolean>;
  /** When the first timer falls due. Undefined where there is none. */
  readonly next: number | undefined;
  /** How many timers have run: the length of the run, and a guard against one without an end. */
  readonly steps: number;
}

/** Where wall time begins in every run. */
const epoch = Date.parse('2030-01-01T00:00:00Z');

export function virtualTime(): VirtualTime {
  const heap: Timer[] = [];
  let elapsed = 0;
  let made = 0;
  let steps = 0;

  const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.made < b.made);

  function push(timer: Timer): void {
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = timer;
  }

  function pop(): void {
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (a === undefined) break;
      const smaller = b !== undefined && isBefore(b, a) ? left + 1 : left;
      const child = heap[smaller];
      if (child === undefined || !isBefore(child, last)) break;
      heap[at] = child;
      at = smaller;
    }
    heap[at] = last;
  }

  /** Runs the first timer that is due by `end`; false when there is none. */
  async function step(end: number): Promise<boolean> {
    for (let first = heap[0]; first !== undefined && first.at <= end; first = heap[0]) {
      pop();
      if (first.call === undefined) continue;
      elapsed = Math.max(elapsed, first.at);
      steps++;
      first.call();
      await settled();
      return true;
    }
    return false;
  }

  return {
    now: () => epoch + elapsed,
    monotonic: () => elapsed,
    after(ms, call) {
      const timer: Timer = { at: elapsed + Math.max(0, ms), made: made++, call };
      push(timer);
      return () => {
        timer.call = undefined;
      };
    },
    async advance(ms) {
      const end = elapsed + ms;
      await settled();
      while (await step(end));
      elapsed = end;
    },
    async advanceUntil(holds, ms) {
      const end = elapsed + ms;
      await settled();
      while (!holds()) {
        if (await step(end)) continue;
        elapsed = end;
        return holds();
      }
      return true;
    },
    get next() {
      while (heap[0] !== undefined && heap[0].call === undefined) pop();
      return heap[0]?.at;
    },
    get steps() {
      return steps;
    },
  };
}

/** One full turn of the event loop: all microtasks and ticks have run when it ends. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
