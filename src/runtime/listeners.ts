/** One open ear for each process that reports changes by itself. Ears of a cluster come and go with its processes. */
import type { Cluster } from '../api/cluster.ts';
import type { KindHandler, ListenerMemory } from '../engine/engine.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import type { Children } from '../resources/children.ts';
import { type Clock, sleep } from '../system/clock.ts';
import type { Log } from '../system/log.ts';
import type { ClusterKey } from './cache.ts';

/** Pause before a listener that ended is opened again. */
const reopenMs = 1000;

export interface Listeners {
  /** Makes the open listeners of a cluster those that its children call for. */
  follow(key: ClusterKey, engine: KindHandler, cluster: Cluster, children: Children): void;
  forget(key: ClusterKey): void;
  closeAll(): void;
}

export function createListeners(options: {
  readonly clock: Clock;
  readonly log: Log;
  readonly io: (cluster: Cluster, signal: AbortSignal) => EngineContext;
  readonly changed: (key: ClusterKey) => void;
}): Listeners {
  const { clock, log, io, changed } = options;
  const open = new Map<ClusterKey, Map<string, AbortController>>();
  /** As they were understood last: one that listens anew does so by the present spec, which may name another Secret. */
  const clusters = new Map<ClusterKey, Cluster>();

  async function listen(key: ClusterKey, endpoint: string, engine: KindHandler, signal: AbortSignal): Promise<void> {
    const memory: ListenerMemory = {};
    for (let cluster = clusters.get(key); cluster !== undefined && !signal.aborted; cluster = clusters.get(key)) {
      try {
        await engine.listener?.listen(endpoint, cluster, io(cluster, signal), () => changed(key), memory);
      } catch (error) {
        if (!signal.aborted) log.debug({ cluster: key, endpoint, err: error }, 'a listener ended');
      }
      // Rejects only when the signal aborts, which ends the loop.
      await sleep(clock, reopenMs, signal).catch(() => undefined);
    }
  }

  function close(key: ClusterKey): void {
    for (const controller of open.get(key)?.values() ?? []) controller.abort();
    open.delete(key);
    clusters.delete(key);
  }

  return {
    follow(key, engine, cluster, children) {
      if (engine.listener === undefined) return;
      const wanted = new Set(engine.listener.endpoints(children));
      const current = open.get(key) ?? new Map<string, AbortController>();
      open.set(key, current);
      clusters.set(key, cluster);
      for (const [endpoint, controller] of current) {
        if (wanted.has(endpoint)) continue;
        controller.abort();
        current.delete(endpoint);
      }
      for (const endpoint of wanted) {
        if (current.has(endpoint)) continue;
        const controller = new AbortController();
        current.set(endpoint, controller);
        void listen(key, endpoint, engine, controller.signal);
      }
    },
    forget: close,
    closeAll() {
      for (const key of [...open.keys()]) close(key);
    },
  };
}
