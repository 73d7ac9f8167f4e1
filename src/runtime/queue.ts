/**
 * Which keys need a pass, and when.
 *
 * Three guarantees: a key is never handed to two workers at once; a key added while a worker holds it is handed out
 * once more afterwards; no added key is lost. A queue holds keys, not objects, so a worker always reads the newest state.
 *
 * There are three lanes. `high` is for what has just happened: a failover, a change by a user. `recheck` is for what is
 * looked at again because time may have changed it, `low` for initial lists and resyncs. A lane that waits is passed over
 * only so many times, and some workers are kept for `high` alone: a thousand rechecks that wait for dead sockets delay
 * no failover, and no number of failovers ends the rechecks.
 */

import type { Clock, Random } from '../system/clock.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import type { Metrics } from './metrics.ts';

export type Priority = 'high' | 'recheck' | 'low';

export interface WorkQueue<Key extends string = string> {
  /** A key that waits already stays where it is, unless this is a more urgent lane. */
  add(key: Key, priority?: Priority): void;
  /** Adds after `ms`. Of several delayed adds of a key the earliest counts, with the highest priority of all. */
  addAfter(key: Key, ms: number, priority?: Priority): void;
  /** Adds after the key's own backoff: 5 ms doubling to 30 s with each call, ±10 %. Keeps its priority by default. */
  retry(key: Key, priority?: Priority): void;
  /** The key succeeded: its backoff starts anew. */
  forget(key: Key): void;
  /** `retry` calls since the last `forget`. */
  retries(key: Key): number;
  /** The lane that a held key was taken from. */
  laneOf(key: Key): Priority | undefined;
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
  /** Most keys that may be held at once, those from `high` not counted. Default: any number. */
  readonly backgroundLimit?: number;
  readonly metrics?:
    | Pick<Metrics, 'queueDepth' | 'queueAdds' | 'queueRetries' | 'queueLatency' | 'queueWork'>
    | undefined;
}

const BASE_DELAY_MS = 5;
/**
 * Every event of a cluster is a try more, so a busy cluster climbs this ladder within seconds of an outage; what it says
 * of itself must not stay old for long after.
 */
const MAX_DELAY_MS = 30_000;
/** Most urgent first. */
const lanesInOrder = ['high', 'recheck', 'low'] as const satisfies readonly Priority[];
/** How many keys of other lanes may be handed out while one of this lane waits. */
const patience: Readonly<Record<Priority, number>> = { high: 0, recheck: 3, low: 15 };

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
  const lanes: Record<Priority, Map<Key, number>> = { high: new Map(), recheck: new Map(), low: new Map() };
  const passedOver: Record<Priority, number> = { high: 0, recheck: 0, low: 0 };
  const held = new Map<Key, Held>();
  const delayed = new Map<Key, Delayed>();
  const failures = new Map<Key, { count: number; readonly backoff: Backoff }>();
  const waiting: ((key: Key | undefined) => void)[] = [];
  const backgroundLimit = options.backgroundLimit ?? Number.POSITIVE_INFINITY;
  /** Held keys that were not taken from `high`. */
  let background = 0;
  let stopped: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  function add(key: Key, priority: Priority = 'high'): void {
    if (stopped !== undefined) return;
    metrics?.queueAdds.inc({ queue });
    const holder = held.get(key);
    if (holder !== undefined) {
      holder.again = higher(holder.again ?? priority, priority);
      return;
    }
    const lane = lanesInOrder.find((each) => lanes[each].has(key));
    if (lane !== undefined && higher(lane, priority) === lane) return;
    const since = lane === undefined ? undefined : lanes[lane].get(key);
    if (lane !== undefined) lanes[lane].delete(key);
    lanes[priority].set(key, since ?? clock.monotonic());
    dispatch();
    measureDepth();
  }

  function dispatch(): void {
    for (let next = pick(); next !== undefined; next = pick()) waiting.shift()?.(next);
  }

  function pick(): Key | undefined {
    if (waiting.length === 0) return undefined;
    const priority = laneInTurn();
    if (priority === undefined) return undefined;
    const [first] = lanes[priority];
    if (first === undefined) return undefined;
    const [key, since] = first;
    lanes[priority].delete(key);
    for (const lane of lanesInOrder) {
      passedOver[lane] = lane === priority || lanes[lane].size === 0 ? 0 : passedOver[lane] + 1;
    }
    if (priority !== 'high') background++;
    const now = clock.monotonic();
    held.set(key, { priority, takenAt: now, again: undefined });
    metrics?.queueLatency.observe({ queue, priority }, (now - since) / 1000);
    return key;
  }

  /** The least urgent lane that has been passed over for long enough, else the most urgent one. */
  function laneInTurn(): Priority | undefined {
    const ready = lanesInOrder.filter(
      (lane) => lanes[lane].size > 0 && (lane === 'high' || background < backgroundLimit),
    );
    return ready.findLast((lane) => passedOver[lane] >= patience[lane]) ?? ready[0];
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
    for (const lane of lanesInOrder) metrics?.queueDepth.set({ queue, priority: lane }, lanes[lane].size);
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
    laneOf: (key) => held.get(key)?.priority,
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
      if (holder.priority !== 'high') background--;
      metrics?.queueWork.observe({ queue }, (clock.monotonic() - holder.takenAt) / 1000);
      if (holder.again !== undefined) add(key, holder.again);
      dispatch();
      measureDepth();
      if (held.size === 0) stopped?.resolve();
    },
    shutDown() {
      if (stopped !== undefined) return stopped.promise;
      const { promise, resolve } = deferred();
      stopped = { promise, resolve };
      for (const { cancel } of delayed.values()) cancel();
      delayed.clear();
      for (const lane of lanesInOrder) lanes[lane].clear();
      for (const give of waiting.splice(0)) give(undefined);
      measureDepth();
      if (held.size === 0) resolve();
      return promise;
    },
    get depth() {
      return lanesInOrder.reduce((sum, lane) => sum + lanes[lane].size, 0);
    },
  };
}

function higher(a: Priority, b: Priority): Priority {
  return lanesInOrder.indexOf(a) <= lanesInOrder.indexOf(b) ? a : b;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
