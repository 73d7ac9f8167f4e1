/**
 * Kubernetes events about what the controller did, for people who look at an object.
 *
 * Recording never throws, never waits and never holds up a pass: events are sent one by one in the background, and are
 * dropped when there are too many or the API server refuses them. The same thing said again within six minutes becomes
 * a higher count on the first event instead of a new one.
 */
import { createHash } from 'node:crypto';
import { apiVersionOf, type KubeObject, type ObjectRef } from '../api/object.ts';
import { events as eventResource } from '../api/resource.ts';
import { type Clock, sleep } from '../system/clock.ts';
import type { Log } from '../system/log.ts';
import { isNotFound } from './api-error.ts';
import type { KubeClient } from './client.ts';
import { microTime } from './lease.ts';
import type { Metrics } from './metrics.ts';

export interface EventNote {
  /** The object that it is about. */
  readonly regarding: ObjectRef;
  /** The object that was acted upon, if another. */
  readonly related?: ObjectRef | undefined;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase and stable: people and alerts match on it. */
  readonly reason: string;
  /** CamelCase: what was done, for example `Failover`. */
  readonly action: string;
  /** For people; cut at 1,024 bytes. */
  readonly note: string;
}

export interface EventRecorder {
  record(event: EventNote): void;
  /** Sends what is pending, for at most `timeoutMs` (default 2 s). Nothing is sent afterwards. */
  drain(timeoutMs?: number): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'mergePatch'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'recordedEvents'> | undefined;
  /** For example `clusterwright.dev/controller`. */
  readonly controller: string;
  /** This process, for example the pod's name. At most 128 characters. */
  readonly instance: string;
}

const MAX_NOTE_BYTES = 1024;
/** Silence after which the same event counts as news. */
const SERIES_MS = 360_000;
/** A count that changed is sent at most this often. */
const FLUSH_MS = 30_000;
/** About one object: this many events at once, then one every five minutes, as other Kubernetes components do it. */
const BURST = 25;
const REFILL_MS = 300_000;
const MAX_PENDING = 1000;
const MAX_TRACKED = 4096;

interface Series {
  readonly event: EventNote;
  name: string;
  namespace: string;
  firstSeen: number;
  lastSeen: number;
  count: number;
  sentCount: number;
  flushScheduled: boolean;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log, metrics } = options;
  const series = new Map<string, Series>();
  const budgets = new Map<string, { tokens: number; at: number }>();
  const pending: Series[] = [];
  const timers = new Set<() => void>();
  let sending: Promise<void> | undefined;
  let closed = false;

  const count = (outcome: 'sent' | 'aggregated' | 'dropped' | 'failed'): void =>
    metrics?.recordedEvents.inc({ outcome });

  function record(event: EventNote): void {
    if (closed) {
      count('dropped');
      return;
    }
    const now = clock.now();
    const key = JSON.stringify([
      refKey(event.regarding),
      event.related && refKey(event.related),
      event.type,
      event.reason,
      event.action,
      event.note,
    ]);
    const known = series.get(key);
    if (known !== undefined && now - known.lastSeen < SERIES_MS) {
      known.count++;
      known.lastSeen = now;
      count('aggregated');
      scheduleFlush(known);
      return;
    }
    if (pending.length >= MAX_PENDING || !spend(refKey(event.regarding))) {
      count('dropped');
      return;
    }
    const fresh: Series = {
      event,
      name: `${event.regarding.name.slice(0, 200)}.${createHash('sha256').update(`${key}${now}${options.instance}`).digest('hex').slice(0, 16)}`,
      namespace: event.regarding.namespace ?? 'default',
      firstSeen: now,
      lastSeen: now,
      count: 1,
      sentCount: 0,
      flushScheduled: false,
    };
    remember(series, key, fresh);
    enqueue(fresh);
  }

  /** Token bucket of one object. */
  function spend(key: string): boolean {
    const now = clock.monotonic();
    const budget = budgets.get(key) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, budget.tokens + (now - budget.at) / REFILL_MS);
    remember(budgets, key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    return tokens >= 1;
  }

  function scheduleFlush(entry: Series): void {
    if (entry.flushScheduled) return;
    entry.flushScheduled = true;
    const cancel = clock.after(FLUSH_MS, () => {
      timers.delete(cancel);
      entry.flushScheduled = false;
      enqueue(entry);
    });
    timers.add(cancel);
  }

  function enqueue(entry: Series): void {
    if (!pending.includes(entry)) pending.push(entry);
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
  }

  async function sendAll(): Promise<void> {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      try {
        await send(next);
        count('sent');
      } catch (err) {
        count('failed');
        log.debug({ err, reason: next.event.reason }, 'an event could not be recorded');
      }
    }
  }

  async function send(entry: Series): Promise<void> {
    const { count, lastSeen } = entry;
    const isNew = entry.sentCount === 0;
    // Before the request: whether it arrives or not, the next flush reports a later count.
    entry.sentCount = count;
    if (isNew) {
      await client.create(eventObject(entry, options));
      return;
    }
    try {
      const ref = { resource: eventResource, namespace: entry.namespace, name: entry.name };
      await client.mergePatch(ref, { series: { count, lastObservedTime: microTime(lastSeen) } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The server forgets events after an hour; the series goes on under the same name.
      await client.create(eventObject(entry, options));
    }
  }

  return {
    record,
    async drain(timeoutMs = 2000) {
      closed = true;
      for (const cancel of timers) cancel();
      timers.clear();
      for (const entry of series.values()) {
        if (entry.count > entry.sentCount) enqueue(entry);
      }
      const deadline = new AbortController();
      const late = sleep(clock, timeoutMs, deadline.signal).catch(() => undefined);
      await Promise.race([sending, late]);
      deadline.abort();
      pending.length = 0;
    },
  };
}

function eventObject(entry: Series, options: EventRecorderOptions): KubeObject {
  const { event } = entry;
  return {
    apiVersion: apiVersionOf(eventResource),
    kind: eventResource.kind,
    metadata: { name: entry.name, namespace: entry.namespace },
    eventTime: microTime(entry.firstSeen),
    reportingController: options.controller,
    reportingInstance: options.instance.slice(0, 128),
    action: event.action,
    reason: event.reason,
    type: event.type,
    note: cut(event.note),
    regarding: objectReference(event.regarding),
    ...(event.related === undefined ? {} : { related: objectReference(event.related) }),
    ...(entry.count > 1 ? { series: { count: entry.count, lastObservedTime: microTime(entry.lastSeen) } } : {}),
  };
}

function objectReference({ resource, namespace, name, uid }: ObjectRef): object {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid };
}

function refKey({ resource, namespace, name, uid }: ObjectRef): string {
  return [resource.group, resource.kind, namespace, name, uid].join('/');
}

/** At most `MAX_NOTE_BYTES` bytes, not cut inside a character. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  return bytes
    .subarray(0, MAX_NOTE_BYTES - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
    .concat('...');
}

/** Puts an entry last and forgets the oldest beyond `MAX_TRACKED`. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_TRACKED) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
