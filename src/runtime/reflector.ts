/**
 * Keeps a store equal to what the API server holds of one resource, for as long as it runs.
 *
 * It begins with a complete set (a watch that sends what exists first, or pages of a list on servers that cannot), then
 * follows the watch and resumes it from the last version seen. Only a version that the server has forgotten, repeated
 * refusals to go on from it, or a watch that said nothing at all cost a new complete set. No end of a watch, however rude, ends the reflector; attempts
 * begin at growing distances, so a server that ends every watch at once is not hammered.
 */
import type { Resource } from '../api/object.ts';
import { type Clock, type Random, sleep } from '../system/clock.ts';
import { LineTooLong } from '../system/line-splitter.ts';
import type { Log } from '../system/log.ts';
import { createAbortScope } from './abort-scope.ts';
import { ApiError, ApiUnreachable, apiErrorOfStatus, isExpired, isNotFound } from './api-error.ts';
import { createBackoff } from './backoff.ts';
import type { KubeClient, Selection } from './client.ts';
import type { Metrics } from './metrics.ts';
import { collectionPath } from './resource-path.ts';
import type { Replacement, StoreFeed } from './store.ts';
import { GarbledWatch, type WatchEvent } from './watch.ts';
import { createWatchdog, type Watchdog, WatchSilent } from './watchdog.ts';

export interface ReflectorOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource;
  readonly selection?: Selection | undefined;
  readonly store: StoreFeed;
  /** Nothing is wrong where the API server does not serve it. Default false. */
  readonly isOptional?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'watchEvents' | 'watchRestarts'> | undefined;
}

export interface Reflector {
  /** Resolves when the signal aborts, never before, and never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether a watch is open now. */
  readonly connected: boolean;
  /** False while the API server knows no such resource: its CustomResourceDefinition is not installed. */
  readonly isServed: boolean;
  /** Whether the first attempt is over, however it ended. */
  readonly wasTried: boolean;
  /** Whether the API server has said at the last attempt that this process has no right to see the resource. */
  readonly isForbidden: boolean;
}

/** Why a watch ended; the label of the restart metric. */
export type EndCause =
  /** By the server, in an orderly way, after a decent time. */
  | 'ended'
  /** In an orderly way, but too soon. */
  | 'ended-early'
  /** In an orderly way and in time, but without one event or bookmark, though this server sends bookmarks. */
  | 'mute'
  | 'connection-lost'
  | 'unreachable'
  /** Nothing came for so long that the connection must be dead. */
  | 'silent'
  /** 410: the version is no longer in the server's history. */
  | 'expired'
  /** 404: the API server has no such resource. */
  | 'not-served'
  /** Any other error of the server, as a status or within the stream. */
  | 'refused'
  /** What came was no watch stream. */
  | 'garbled'
  /** The server cannot send initial events. */
  | 'no-initial-events'
  /** Something on our side, such as credentials that cannot be read. */
  | 'failed';

interface End {
  readonly cause: EndCause;
  readonly error?: unknown;
  readonly retryAfterMs?: number | undefined;
}

const PAGE_SIZE = 500;
const BACKOFF_BASE_MS = 800;
const BACKOFF_MAX_MS = 30_000;
/** A watch that lasted this long was healthy: what follows starts with the shortest delay again. */
const HEALTHY_MS = 120_000;
/** What is not served and need not be is asked for this rarely. */
const OPTIONAL_MS = 300_000;
const MIN_TIMEOUT_S = 300;
/** After this many refusals in a row to go on from a version, a complete set is asked for. */
const MAX_STRIKES = 3;

export function createReflector(options: ReflectorOptions): Reflector {
  const { client, resource, selection = {}, store, clock, random, metrics, isOptional = false } = options;
  const path = collectionPath(resource, selection.namespace);
  const log = options.log.child({ resource: resource.plural });
  const backoff = createBackoff({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, random });

  /** Undefined while a complete set is owed. */
  let version: string | undefined;
  /** Whether to ask for initial events; a server that stays silent is asked again at the next complete set. */
  let initialEvents: 'yes' | 'not-now' | 'never' = 'yes';
  let strikes = 0;
  let connectedAt: number | undefined;
  let isServed = true;
  let wasTried = false;
  let isForbidden = false;

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const beganAt = clock.monotonic();
      const end = await attempt(signal);
      const healthy = isHealthy();
      connectedAt = undefined;
      wasTried = true;
      isForbidden = end.error instanceof ApiError && end.error.status === 403;
      if (signal.aborted) return;
      learn(end);
      report(end, healthy);
      if (end.cause === 'no-initial-events') continue;
      const pause = pauseAfter(end, healthy, clock.monotonic() - beganAt);
      // Rejects only when the signal aborts, which ends the loop.
      if (pause > 0) await sleep(clock, pause, signal).catch(() => undefined);
    }
  }

  function served(): void {
    if (!isServed) log.info({}, 'the API server serves this resource now');
    isServed = true;
  }

  function isHealthy(): boolean {
    return connectedAt !== undefined && clock.monotonic() - connectedAt >= HEALTHY_MS;
  }

  /** Never rejects: whatever ends an attempt is told by its End. */
  async function attempt(signal: AbortSignal): Promise<End> {
    try {
      if (version === undefined && initialEvents !== 'yes') version = await list(signal);
      return await watch(signal);
    } catch (error) {
      return { cause: causeOf(error), error, retryAfterMs: error instanceof ApiError ? error.retryAfterMs : undefined };
    }
  }

  async function watch(signal: AbortSignal): Promise<End> {
    const timeoutSeconds = MIN_TIMEOUT_S + Math.floor(random() * (MIN_TIMEOUT_S + 1));
    const scope = createAbortScope(signal);
    const replacement = version === undefined ? store.beginReplacement() : undefined;
    const watchdog = createWatchdog(clock, timeoutSeconds, replacement !== undefined, (silent) => scope.abort(silent));
    try {
      const events = await client.watch(resource, {
        ...selection,
        resourceVersion: version,
        sendInitialEvents: replacement !== undefined,
        timeoutSeconds,
        signal: scope.signal,
      });
      connectedAt = clock.monotonic();
      served();
      return await follow(events, replacement, watchdog);
    } catch (error) {
      if (error instanceof WatchSilent && error.initial && connectedAt !== undefined)
        return { cause: 'no-initial-events', error };
      if (error instanceof ApiError && replacement !== undefined && (error.status === 400 || error.status === 422)) {
        return { cause: 'no-initial-events', error };
      }
      throw error;
    } finally {
      watchdog.stop();
      scope.dispose();
    }
  }

  async function follow(
    events: AsyncIterable<WatchEvent>,
    replacement: Replacement | undefined,
    watchdog: Watchdog,
  ): Promise<End> {
    let initial = replacement;
    let heard = false;
    for await (const event of events) {
      heard = true;
      metrics?.watchEvents.inc({ resource: resource.plural, type: event.type });
      if (event.type === 'ERROR') throw apiErrorOfStatus({ method: 'WATCH', path }, event.status);
      strikes = 0;
      watchdog.heard(event.type === 'BOOKMARK' && initial === undefined);
      if (event.type !== 'BOOKMARK') {
        const { object } = event;
        const target = initial ?? store;
        if (event.type === 'DELETED') target.remove(object);
        else target.put(object);
        if (initial === undefined) version = object.metadata.resourceVersion;
      } else if (initial === undefined) {
        if (event.resourceVersion !== '') version = event.resourceVersion;
      } else if (event.initialEventsEnd) {
        initial.commit(event.resourceVersion);
        version = event.resourceVersion;
        initial = undefined;
        watchdog.initialDone();
        log.debug({ resourceVersion: version }, 'synced by initial events');
      }
    }
    // A server whose history was rewritten accepts a version that it has not reached yet, and then has nothing to say.
    const mute = !heard && initialEvents === 'yes' && isHealthy();
    return { cause: mute ? 'mute' : 'ended' };
  }

  /** Fetches all pages and swaps them in. Returns the version to watch from. */
  async function list(signal: AbortSignal): Promise<string> {
    let replacement = store.beginReplacement();
    let page = await client.list(resource, { ...selection, limit: PAGE_SIZE, signal });
    for (;;) {
      for (const object of page.items) replacement.put(object);
      if (page.continue === undefined) break;
      try {
        page = await client.list(resource, { ...selection, limit: PAGE_SIZE, continue: page.continue, signal });
      } catch (error) {
        if (!isExpired(error)) throw error;
        // The history moved on between two pages: all at once cannot expire.
        log.info({ err: error }, 'a list expired between its pages and is fetched in one piece');
        replacement = store.beginReplacement();
        page = await client.list(resource, { ...selection, signal });
      }
    }
    replacement.commit(page.resourceVersion);
    if (initialEvents === 'not-now') initialEvents = 'yes';
    log.debug({ resourceVersion: page.resourceVersion }, 'synced by a list');
    return page.resourceVersion;
  }

  /** Decides what the next attempt may rely on. */
  function learn(end: End): void {
    if (end.cause === 'no-initial-events') initialEvents = end.error instanceof WatchSilent ? 'not-now' : 'never';
    if (end.cause === 'expired' || end.cause === 'mute' || end.cause === 'not-served') version = undefined;
    if (end.cause === 'refused' || end.cause === 'garbled') strikes++;
    if (strikes >= MAX_STRIKES) {
      version = undefined;
      strikes = 0;
    }
  }

  /**
   * Delays are distances between the beginnings of attempts: a watch that lived longer than its delay is reopened at
   * once, one that the server ends immediately waits the whole of it. A server's Retry-After is always kept.
   */
  function pauseAfter(end: End, healthy: boolean, spent: number): number {
    if (end.cause === 'not-served' && isOptional) return OPTIONAL_MS * (1 + 0.1 * random());
    if (healthy) backoff.reset();
    const distance = healthy ? 0 : backoff.next() - spent;
    const asked = end.retryAfterMs === undefined ? 0 : end.retryAfterMs * (1 + 0.1 * random());
    return Math.max(0, distance, asked);
  }

  function report(end: End, healthy: boolean): void {
    const cause = end.cause === 'ended' && !healthy ? 'ended-early' : end.cause;
    metrics?.watchRestarts.inc({ resource: resource.plural, cause });
    const fields = { cause, err: end.error, resourceVersion: version };
    if (cause === 'ended' || cause === 'no-initial-events') log.debug(fields, 'the watch ended');
    else if (cause === 'not-served') {
      // Asked again and again for as long as it lasts, and said once.
      if (isServed && isOptional) log.info({ cause }, 'the API server does not serve this resource, and need not');
      else if (isServed) log.warn(fields, 'the API server does not serve this resource: is its CRD installed?');
      isServed = false;
    } else if (cause === 'failed') log.error(fields, 'the watch failed');
    else log.warn(fields, 'the watch ended and will be resumed');
  }

  return {
    run,
    get connected() {
      return connectedAt !== undefined;
    },
    get isServed() {
      return isServed;
    },
    get wasTried() {
      return wasTried;
    },
    get isForbidden() {
      return isForbidden;
    },
  };
}

function causeOf(error: unknown): EndCause {
  if (isExpired(error)) return 'expired';
  if (isNotFound(error)) return 'not-served';
  if (error instanceof ApiError) return 'refused';
  if (error instanceof ApiUnreachable) return error.maybeSent ? 'connection-lost' : 'unreachable';
  if (error instanceof WatchSilent) return 'silent';
  if (error instanceof GarbledWatch || error instanceof LineTooLong) return 'garbled';
  return 'failed';
}
