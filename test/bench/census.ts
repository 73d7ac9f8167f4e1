/**
 * Who is there, as watches of the bench tell it the moment it happens: creationTimestamp knows only whole seconds.
 *
 * Counted are the objects of one namespace that bear a cluster's name, of the kinds in `childKinds`, and what the
 * clusters' status says.
 */
import type { KubeObject, Resource } from '../../src/api/object.ts';
import {
  configMaps,
  podDisruptionBudgets,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from '../../src/api/resource.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { pause } from './in-flight.ts';
import { clusterOf } from './workload.ts';

/** All kinds that the controller creates for a cluster. */
export const childKinds: readonly Resource[] = [
  configMaps,
  secrets,
  serviceAccounts,
  roles,
  roleBindings,
  services,
  statefulSets,
  podDisruptionBudgets,
];

export interface Census {
  readonly clusters: number;
  readonly children: number;
  readonly readyClusters: number;
  /** `performance.now()` of the last new child; 0 before the first. */
  readonly lastChildAt: number;
  /** The same of any change whatever. */
  readonly lastChangeAt: number;
  /** Resolves with the time when status says that this generation was seen; rejects when the census ends first. */
  observed(cluster: string, generation: number): Promise<number>;
  /** Resolves when there are so many children; rejects when nothing has changed for a minute. */
  complete(children: number): Promise<void>;
  /** Resolves when nothing has changed for so long, or after `atMostMs`. */
  quiet(ms: number, atMostMs: number): Promise<void>;
  close(): void;
}

interface Seen {
  readonly generation: number;
  readonly resolve: (at: number) => void;
  readonly reject: (error: Error) => void;
}

interface ClusterStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

const stuckMs = 60_000;

/** Watches from the present state on. */
export async function openCensus(client: KubeClient, resource: Resource, namespace: string): Promise<Census> {
  const closing = new AbortController();
  const clusters = new Map<string, boolean>();
  const waiting = new Map<string, Seen[]>();
  const childUids = new Set<string>();
  let lastChildAt = 0;
  let lastChangeAt = performance.now();

  function noteCluster({ metadata, status }: KubeObject & { readonly status?: ClusterStatus }, at: number): void {
    const isReady = status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
    clusters.set(metadata.name, isReady);
    const pending = waiting.get(metadata.name) ?? [];
    const observed = status?.observedGeneration ?? 0;
    for (const { resolve } of pending.filter(({ generation }) => generation <= observed)) resolve(at);
    const left = pending.filter(({ generation }) => generation > observed);
    if (left.length > 0) waiting.set(metadata.name, left);
    else waiting.delete(metadata.name);
  }

  /** The server ends a watch that does not keep up: it goes on where it was. */
  async function follow(watched: Resource): Promise<void> {
    let since: { readonly resourceVersion?: string } = {};
    while (!closing.signal.aborted) {
      const options = { namespace, timeoutSeconds: 3600, signal: closing.signal, ...since };
      for await (const event of await client.watch(watched, options)) {
        if (event.type === 'ERROR') throw new Error(`the watch of ${watched.plural} failed: ${event.status.message}`);
        if (event.type === 'BOOKMARK') {
          since = { resourceVersion: event.resourceVersion };
          continue;
        }
        const { resourceVersion } = event.object.metadata;
        if (resourceVersion !== undefined) since = { resourceVersion };
        note(watched, event.type, event.object);
      }
    }
  }

  function note(watched: Resource, type: string, object: KubeObject): void {
    const at = performance.now();
    lastChangeAt = at;
    if (watched === resource) noteCluster(object, at);
    else if (type === 'ADDED' && clusterOf(object.metadata.name) !== undefined) {
      childUids.add(object.metadata.uid ?? '');
      lastChildAt = at;
    }
  }

  let broken: unknown;
  for (const watched of [resource, ...childKinds]) {
    follow(watched).catch((error: unknown) => {
      if (!closing.signal.aborted) broken = error;
    });
  }

  const until = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      if (broken !== undefined) throw broken;
      await pause(20);
    }
  };

  return {
    get clusters() {
      return clusters.size;
    },
    get children() {
      return childUids.size;
    },
    get readyClusters() {
      return [...clusters.values()].filter(Boolean).length;
    },
    get lastChildAt() {
      return lastChildAt;
    },
    get lastChangeAt() {
      return lastChangeAt;
    },
    observed: (cluster, generation) =>
      new Promise((resolve, reject) => {
        waiting.set(cluster, [...(waiting.get(cluster) ?? []), { generation, resolve, reject }]);
      }),
    async complete(children) {
      await until(() => {
        if (performance.now() - lastChangeAt > stuckMs) {
          throw new Error(`${childUids.size} of ${children} children after a minute without any change`);
        }
        return childUids.size >= children;
      });
    },
    async quiet(ms, atMostMs) {
      const deadline = performance.now() + atMostMs;
      await until(() => performance.now() - lastChangeAt >= ms || performance.now() > deadline);
    },
    close() {
      closing.abort(new Error('the census is over'));
      for (const { reject } of [...waiting.values()].flat()) reject(new Error('the census is over'));
    },
  };
}
