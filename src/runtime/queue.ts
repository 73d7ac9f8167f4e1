/**
 * Which keys need a pass, and when.
 *
 * Three guarantees: a key is never handed to two workers at once; a key added while a worker holds it is handed out
 * once more afterwards; no added key is lost. A queue holds keys, not objects, so a worker always reads the newest state.
 * `high` is for what users just changed, `low` for initial lists and resyncs, of which one in sixteen is let through
 * even when `high` never runs dry.
 */
import { type Backoff, createBackoff } from './backoff.ts';
import type { Clock, Random } from './clock.ts';
import type { Metrics } from './metrics.ts';

export type Priority = 'high' | 'low';

export interface WorkQueue<Key extends string = string> {
  /** A key that waits already stays where it is, except that `high` lifts it out of `low`. */
  add(key: Key, priority?: Priority): void;
  /** Adds after `ms`. Of several delayed adds of a key the earliest counts, with the highest priority of all. */
  addAfter(key: Key, ms: number, priority?: Priority): void;
  /** Adds after the key's own backoff: 5 ms doubling to a minute with each call, ±10 %. Keeps its priority by default. */
  retry(key: Key, priority?: Priority): void;
  /** The key succeeded: its backoff starts anew. */
  forget(key: Key): void;
  /** `retry` calls since the last `forget`. */
  retries(key: Key): number;
  /** The next key, as soon as there is one; undefined once the queue is shut down. The caller owes a `done`. */
  take(): Promise<Key | undefined>;
  /** The worker has finished with the key. Throws if no worker holds it. */
  done(key: Key): void;
  /** Hands out nothing more; resolves when every key that was taken is done. */
  shutDown(): Promise<void>;
  /** Keys that wait for a worker, delayed ones not counted. */
  readonly depth: number;
}

export interface WorkQueueOptions {
  /** Label of the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?:
    | Pick<Metrics, 'queueDepth' | 'queueAdds' | 'queueRetries' | 'queueLatency' | 'queueWork'>
    | undefined;
}

const BASE_DELAY_MS = 5;
/** While passes fail nobody says what is: a status is at most so much longer untrue than what keeps it from being written. */
const MAX_DELAY_MS = 60_000;
/** One `low` key after this many `high` ones in a row. */
const HIGH_IN_A_ROW = 15;

interface Delayed {
  readonly at: number;
  readonly priority: Priority;
  readonly cancel: () => void;
}

interface Held {
  readonly priority: Priority;
  readonly takenAt: number;
  /** Set when the key was added again meanwhile. */
  again: Priority | undefined;
}

export function createWorkQueue<Key extends string = string>(options: WorkQueueOptions): WorkQueue<Key> {
  const { name: queue, clock, random, metrics } = options;
  // Maps keep insertion order: each is a first-in-first-out lane with the time since when a key waits.
  const lanes: Record<Priority, Map<Key, number>> = { high: new Map(), low: new Map() };
  const held = new Map<Key, Held>();
  const delayed = new Map<Key, Delayed>();
  const failures = new Map<Key, { count: number; readonly backoff: Backoff }>();
  const waiting: ((key: Key | undefined) => void)[] = [];
  let highInARow = 0;
  let stopped: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  function add(key: Key, priority: Priority = 'high'): void {
    if (stopped !== undefined) return;
    metrics?.queueAdds.inc({ queue });
    const holder = held.get(key);
    if (holder !== undefined) {
      holder.again = higher(holder.again ?? priority, priority);
      return;
    }
    if (lanes.high.has(key)) return;
    const since = lanes.low.get(key);
    if (since !== undefined && priority === 'low') return;
    lanes.low.delete(key);
    lanes[priority].set(key, since ?? clock.monotonic());
    dispatch();
    measureDepth();
  }

  function dispatch(): void {
    for (let next = pick(); next !== undefined; next = pick()) waiting.shift()?.(next);
  }

  function pick(): Key | undefined {
    if (waiting.length === 0) return undefined;
    const lowTurn = lanes.high.size === 0 || highInARow >= HIGH_IN_A_ROW;
    const priority: Priority = lowTurn && lanes.low.size > 0 ? 'low' : 'high';
    const [first] = lanes[priority];
    if (first === undefined) return undefined;
    const [key, since] = first;
    lanes[priority].delete(key);
    highInARow = priority === 'high' ? highInARow + 1 : 0;
    const now = clock.monotonic();
    held.set(key, { priority, takenAt: now, again: undefined });
    metrics?.queueLatency.observe({ queue, priority }, (now - since) / 1000);
    return key;
  }

  function addAfter(key: Key, ms: number, priority: Priority = 'high'): void {
    if (stopped !== undefined) return;
    if (ms <= 0) {
      add(key, priority);
      return;
    }
    const known = delayed.get(key);
    const at = Math.min(clock.monotonic() + ms, known?.at ?? Number.POSITIVE_INFINITY);
    const strongest = higher(known?.priority ?? priority, priority);
    if (known?.at === at && known.priority === strongest) return;
    known?.cancel();
    const cancel = clock.after(at - clock.monotonic(), () => {
      delayed.delete(key);
      add(key, strongest);
    });
    delayed.set(key, { at, priority: strongest, cancel });
  }

  function measureDepth(): void {
    metrics?.queueDepth.set({ queue, priority: 'high' }, lanes.high.size);
    metrics?.queueDepth.set({ queue, priority: 'low' }, lanes.low.size);
  }

  return {
    add,
    addAfter,
    retry(key, priority) {
      const failure = failures.get(key) ?? {
        count: 0,
        backoff: createBackoff({ baseMs: BASE_DELAY_MS, maxMs: MAX_DELAY_MS, random, jitter: 0.1 }),
      };
      failure.count++;
      failures.set(key, failure);
      metrics?.queueRetries.inc({ queue });
      addAfter(key, failure.backoff.next(), priority ?? held.get(key)?.priority);
    },
    forget(key) {
      failures.delete(key);
    },
    retries: (key) => failures.get(key)?.count ?? 0,
    take() {
      if (stopped !== undefined) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        waiting.push(resolve);
        dispatch();
        measureDepth();
      });
    },
    done(key) {
      const holder = held.get(key);
      if (holder === undefined) throw new Error(`queue ${queue}: no worker holds ${key}`);
      held.delete(key);
      metrics?.queueWork.observe({ queue }, (clock.monotonic() - holder.takenAt) / 1000);
      if (holder.again !== undefined) add(key, holder.again);
      if (held.size === 0) stopped?.resolve();
    },
    shutDown() {
      if (stopped !== undefined) return stopped.promise;
      const { promise, resolve } = deferred();
      stopped = { promise, resolve };
      for (const { cancel } of delayed.values()) cancel();
      delayed.clear();
      lanes.high.clear();
      lanes.low.clear();
      for (const give of waiting.splice(0)) give(undefined);
      measureDepth();
      if (held.size === 0) resolve();
      return promise;
    },
    get depth() {
      return lanes.high.size + lanes.low.size;
    },
  };
}

function higher(a: Priority, b: Priority): Priority {
  return a === 'high' ? a : b;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
