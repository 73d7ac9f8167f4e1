/**
 * From changes to passes: what has to be looked at, by how many workers, and when again.
 *
 * A key, never an object, goes through the queue, so a worker always reads the newest state; no cluster is ever worked
 * on twice at once, and a cluster that fails or hangs waits by itself while the others go on.
 */
import type { KubeObject } from '../api/object.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { Clock, Random } from '../system/clock.ts';
import type { Log } from '../system/log.ts';
import { createAbortScope } from './abort-scope.ts';
import { createAdmission } from './admission.ts';
import { type Cache, type ClusterKey, clusterKey } from './cache.ts';
import type { Listeners } from './listeners.ts';
import type { Metrics } from './metrics.ts';
import type { Priority, WorkQueue } from './queue.ts';
import type { ReconcileResult } from './reconcile-result.ts';
import type { Reconciler } from './reconciler.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Change } from './store.ts';

/**
 * Passes at once. They mostly wait for answers, up to a second for each process that is dead, so many more than cores.
 * What they may ask of the API server at once is bounded by its connections.
 */
const workers = 64;
/** Kept for what has just happened. The others wait for dead sockets, when many clusters have lost a node. */
const keptForEvents = 8;
/** Of the queue that feeds the workers. */
export const backgroundLimit = workers - keptForEvents;
/** A pass that failed so often in a row is no news any more. */
const urgentTries = 3;
/** A pass that takes longer is given up and tried again: it must not hold its cluster for ever. */
const passTimeoutMs = 60_000;
/**
 * Every cluster is looked at this often even when nothing seems to happen, or when it waits for longer: no watch tells of what somebody
 * changed on a database process. A look costs the API server nothing.
 */
const resyncMs = 10 * 60 * 1000;
/** Spread by this share of it, so that clusters that began together do not stay together. */
const resyncSpread = 0.2;

/** How often a cluster asks whether its namespace has been seen whole by now. */
const unseenMs = 1_000;

/** After it is told to stop, passes that have begun may go on for so long. */
export const drainMs = 15_000;
/**
 * Those that are told to end, and do not hear it, are left behind after so long. They can do nothing any more: all that they
 * could do listens to the signal that has aborted.
 */
export const abandonMs = 2_000;
/** The status of a cluster whose pass was given up is written within so long, or by the next one that is. */
const overdueMs = 5_000;

export interface Controller {
  /**
   * Works until `stopping` aborts, then begins nothing more and lets the passes that have begun finish, up to `drainMs`.
   * `lost` ends them at once. Resolves at most `abandonMs` after they were told to end.
   */
  run(stopping: AbortSignal, lost?: AbortSignal): Promise<void>;
}

export interface ControllerOptions {
  readonly engines: readonly KindHandler[];
  readonly cache: Cache;
  readonly queue: WorkQueue<ClusterKey>;
  readonly reconciler: Reconciler;
  readonly listeners: Listeners;
  readonly status: Pick<StatusWriter, 'forget'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What has just happened stays urgent while there is something to do about it. */
function laneAfter({ again, hasActed }: ReconcileResult, lane: Priority = 'recheck'): Priority {
  if (again === undefined) return 'low';
  return hasActed === true && lane === 'high' ? 'high' : 'recheck';
}

export function createController(options: ControllerOptions): Controller {
  const { engines, cache, queue, reconciler, listeners, status, clock, random, log, metrics } = options;

  function locate(key: ClusterKey): { engine: KindHandler; cluster: KubeObject | undefined } | undefined {
    const [name, namespace = '', cluster = ''] = key.split('/');
    const engine = engines.find((candidate) => candidate.name === name);
    return engine === undefined ? undefined : { engine, cluster: cache.cluster(engine, namespace, cluster) };
  }

  async function pass(key: ClusterKey, signal: AbortSignal): Promise<void> {
    const found = locate(key);
    if (found === undefined) return;
    const { engine, cluster } = found;
    if (cluster !== undefined && !cache.hasChildren(cluster.metadata.namespace ?? '')) {
      queue.addAfter(key, unseenMs, 'low');
      return;
    }
    if (cluster === undefined) {
      listeners.forget(key);
      queue.forget(key);
      return;
    }
    const startedAt = clock.monotonic();
    const scope = createAbortScope(signal);
    const cancel = clock.after(passTimeoutMs, () =>
      scope.abort(new Error(`the pass took longer than ${passTimeoutMs} ms`)),
    );
    let outcome = 'failed';
    try {
      const result = await orLeftBehind(scope.signal, reconciler.reconcile(engine, cluster, key, scope.signal));
      outcome = result.outcome.state;
      queue.forget(key);
      if (result.understood !== undefined && !isStopping) {
        listeners.follow(key, engine, result.understood.cluster, result.understood.children);
      }
      const resync = resyncMs * (1 + resyncSpread * (random() - 0.5));
      queue.addAfter(key, Math.min(result.again ?? resync, resync), laneAfter(result, queue.laneOf(key)));
    } catch (error) {
      if (!signal.aborted) {
        log.warn({ cluster: key, err: error }, 'a pass failed and will be repeated');
        if (scope.signal.aborted) await overdue(engine, cluster, key, error, signal);
        queue.retry(key, queue.retries(key) < urgentTries ? undefined : 'recheck');
      }
    } finally {
      cancel();
      scope.dispose();
      const labels = { kind: engine.kind.resource.kind, outcome };
      metrics.reconciles.inc(labels);
      metrics.reconcileDuration.observe(labels, (clock.monotonic() - startedAt) / 1000);
    }
  }

  /** The signal of the pass has aborted, and whatever listens to it does nothing any more. */
  async function overdue(
    engine: KindHandler,
    cluster: KubeObject,
    key: ClusterKey,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const scope = createAbortScope(signal);
    const cancel = clock.after(overdueMs, () => scope.abort(new Error(`no status within ${overdueMs} ms`)));
    try {
      await reconciler.overdue(engine, cluster, key, error, scope.signal);
    } finally {
      cancel();
      scope.dispose();
    }
  }

  /** A worker is never lost to a pass, nor its cluster: what a process answers may end in code that waits without end. */
  function orLeftBehind(signal: AbortSignal, begun: Promise<ReconcileResult>): Promise<ReconcileResult> {
    let cancel = (): void => undefined;
    return new Promise<ReconcileResult>((resolve, reject) => {
      begun.then(resolve, reject);
      const abandon = (): void => {
        cancel = clock.after(abandonMs, () =>
          reject(new Error('a pass did not end when it was told to', { cause: signal.reason })),
        );
      };
      if (signal.aborted) abandon();
      else signal.addEventListener('abort', abandon, { once: true });
    }).finally(() => cancel());
  }

  let isStopping = false;
  const admission = createAdmission(clock);

  async function work(signal: AbortSignal): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const line = queue.laneOf(key) === 'high' ? 'events' : 'others';
      await admission.enter(line);
      try {
        await pass(key, signal);
      } finally {
        admission.leave(line);
        queue.done(key);
      }
    }
  }

  /** Our own status writes come back as changes of the resource: they say nothing new. */
  function requiresReconcile(change: Change): boolean {
    if (change.type !== 'updated') return true;
    const told = ({ metadata }: KubeObject): string =>
      JSON.stringify([
        metadata.uid,
        metadata.generation,
        metadata.deletionTimestamp,
        metadata.finalizers,
        metadata.annotations,
      ]);
    return told(change.object) !== told(change.previous);
  }

  cache.onClusterChange((engine, change) => {
    const { namespace = '', name, uid = '' } = change.object.metadata;
    if (change.type === 'deleted') status.forget(uid);
    if (!requiresReconcile(change)) return;
    const priority = change.origin === 'list' ? 'low' : 'high';
    queue.add(clusterKey(engine.name, namespace, name), priority);
    for (const key of cache.keysByTargetRef(engine, namespace, name)) queue.add(key, priority);
  });
  cache.onChildChange((key, change) => queue.add(key, change.origin === 'list' ? 'low' : 'high'));

  return {
    async run(stopping, lost) {
      const passes = createAbortScope(lost);
      const over = Promise.all(Array.from({ length: workers }, () => work(passes.signal)));
      const cancels: (() => void)[] = [];
      const abandoned = new Promise<void>((resolve) => {
        const abandon = (): void => void cancels.push(clock.after(abandonMs, resolve));
        if (passes.signal.aborted) abandon();
        else passes.signal.addEventListener('abort', abandon, { once: true });
      });
      const stop = (): void => {
        isStopping = true;
        listeners.closeAll();
        void queue.shutDown();
        cancels.push(
          clock.after(drainMs, () => {
            log.warn({ running: admission.running }, 'passes are not over in time and are told to end');
            passes.abort(new Error(`the pass was not over ${drainMs / 1000} s after the process was told to stop`));
          }),
        );
      };
      if (stopping.aborted) stop();
      else stopping.addEventListener('abort', stop, { once: true });
      await Promise.race([over, abandoned]);
      for (const cancel of cancels) cancel();
      passes.dispose();
    },
  };
}
