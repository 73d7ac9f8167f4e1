/**
 * A clock that moves only when a test says so.
 *
 * `advance` runs every timer that falls due, in order, and lets the event loop turn after each one, so promise chains
 * and loopback sockets make progress between two timers. `jump` moves time without running anything, as a process that
 * was stopped and continued would see it.
 */
import type { Clock } from '../../src/system/clock.ts';

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

export class VirtualClock implements Clock {
  #elapsed = 0;
  #wall: number;
  readonly #timers = new Set<Timer>();

  constructor(wall = Date.parse('2030-01-01T00:00:00Z')) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, call: () => void): () => void {
    const timer: Timer = { at: this.#elapsed + Math.max(0, ms), call };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Milliseconds until each pending timer, soonest first. */
  get pending(): number[] {
    return [...this.#timers].map((timer) => timer.at - this.#elapsed).sort((a, b) => a - b);
  }

  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await turn();
    for (let next = this.#due(end); next !== undefined; next = this.#due(end)) {
      this.#timers.delete(next);
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.call();
      await turn();
    }
    this.#elapsed = Math.max(this.#elapsed, end);
  }

  /** Time passes, nothing runs: due timers fire late, on the next `advance`. */
  jump(ms: number): void {
    this.#elapsed += ms;
  }

  /** Someone sets the wall clock. Monotonic time does not notice. */
  shiftWall(ms: number): void {
    this.#wall += ms;
  }

  #due(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

/** One full turn of the event loop: all microtasks, and I/O that is ready. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** As many as a write needs to come back by a watch. */
export async function turns(): Promise<void> {
  for (let n = 0; n < 6; n++) await turn();
}
