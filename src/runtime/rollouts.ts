/**
 * How many clusters roll out at once: a bad image stops at the first one, and not at the first pod of every one.
 *
 * Which clusters are in the middle of a rollout is told by their objects, also to a process that has just started. What is in memory is who
 * has been let in and shows nothing yet, and the order of those that wait.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KindHandler } from '../engine/engine.ts';
import { ignoresLimit } from '../plan/rollout-gate.ts';
import { isRolling } from '../plan/template-write.ts';
import type { Clock } from '../system/clock.ts';
import { type Cache, type ClusterKey, clusterKey } from './cache.ts';
import type { Metrics } from './metrics.ts';

export interface Rollouts {
  /** Undefined: the cluster has a place. Otherwise what it waits for, in words for people who may see its namespace alone. */
  take(key: ClusterKey): string | undefined;
  /** It needs none any more. */
  release(key: ClusterKey): void;
  /** It uses the place that it was given. */
  begun(key: ClusterKey): void;
  /** A major upgrade or a downgrade of this cluster has begun, which its objects may not show. It gets a place that it uses, also beyond the limit. */
  isUnderway(key: ClusterKey): void;
  /** It asks again, if it has not used the place that it was given. Who is in line stays there. */
  giveBack(key: ClusterKey): void;
  /** The same, and it is not in line any more: it does not ask for now. */
  leave(key: ClusterKey): void;
  /** Others wait for this cluster. */
  isAwaited(key: ClusterKey): boolean;
}

export interface RolloutsOptions {
  readonly limit: number;
  readonly engines: readonly KindHandler[];
  readonly cache: Pick<Cache, 'cluster' | 'children' | 'unlistedKinds' | 'onClusterChange' | 'onChildChange'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly metrics: Pick<Metrics, 'rollouts' | 'rolloutsEnded'>;
  /** A cluster may begin, as far as is known. */
  readonly wake: (key: ClusterKey) => void;
}

/** A cluster that waits asks every 30 s. One that has not asked for so long does not wait any more. */
const forgottenMs = 120_000;

export function createRollouts(options: RolloutsOptions): Rollouts {
  const { limit, engines, cache, clock, metrics, wake } = options;
  /** Whom to look at: something of them has changed. */
  const unseen = new Set<ClusterKey>();
  /** In the middle of a rollout, as their objects told last. */
  const rolling = new Set<ClusterKey>();
  /** Let in by this process, and not over. */
  const admitted = new Set<ClusterKey>();
  /** Of these, who has begun: its objects may show nothing for a while, as when its only pod is gone. */
  const used = new Set<ClusterKey>();
  /** When each has asked last, in the order in which they came. */
  const waiting = new Map<ClusterKey, number>();
  const databases = new Map(engines.filter(({ targetRef }) => targetRef === undefined).map((one) => [one.name, one]));

  cache.onClusterChange((engine, { object: { metadata } }) => {
    const key = clusterKey(engine.name, metadata.namespace ?? '', metadata.name);
    unseen.add(key);
    const isKnown = admitted.has(key) || rolling.has(key) || waiting.has(key);
    if (isKnown && countsFor(key) === undefined) wakeNext();
  });
  cache.onChildChange((key) => void unseen.add(key));

  /** Undefined where others do not wait for its rollout: it is gone or on its way, paused, or excluded by a person. */
  function countsFor(key: ClusterKey): Cluster | undefined {
    const [name = '', namespace = '', cluster = ''] = key.split('/');
    const engine = databases.get(name);
    const found = engine === undefined ? undefined : (cache.cluster(engine, namespace, cluster) as Cluster | undefined);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
    const { paused } = (found.spec ?? {}) as CommonSpec;
    return paused === true || ignoresLimit(found) ? undefined : found;
  }

  function look(): void {
    for (const key of unseen) {
      const cluster = countsFor(key);
      if (cluster === undefined) {
        admitted.delete(key);
        used.delete(key);
        waiting.delete(key);
      }
      if (cluster?.status?.initialized === true && isRolling(cache.children(key))) rolling.add(key);
      else rolling.delete(key);
    }
    unseen.clear();
  }

  const busy = (): ReadonlySet<ClusterKey> => new Set([...rolling, ...admitted]);

  function lineUp(key: ClusterKey): readonly ClusterKey[] {
    const now = clock.monotonic();
    waiting.set(key, now);
    for (const [other, at] of waiting) if (now - at > forgottenMs) waiting.delete(other);
    return [...waiting.keys()];
  }

  function report(): void {
    metrics.rollouts.set({ state: 'running' }, busy().size);
    metrics.rollouts.set({ state: 'waiting' }, waiting.size);
  }

  function wakeNext(): void {
    look();
    const free = Math.max(0, limit - busy().size);
    for (const key of [...waiting.keys()].slice(0, free)) wake(key);
    report();
  }

  function release(key: ClusterKey): void {
    const isUsed = used.delete(key) || rolling.has(key);
    waiting.delete(key);
    unseen.add(key);
    if (!admitted.delete(key) && !isUsed) {
      report();
      return;
    }
    if (isUsed) metrics.rolloutsEnded.inc();
    wakeNext();
  }

  function giveBack(key: ClusterKey): void {
    if (used.has(key) || !admitted.delete(key)) return;
    unseen.add(key);
    wakeNext();
  }

  return {
    take(key) {
      look();
      const others = busy();
      if (others.has(key)) {
        waiting.delete(key);
        return undefined;
      }
      const place = lineUp(key).indexOf(key);
      // Whose custom resource has yet to be listed may be in a rollout.
      const { unlistedKinds } = cache;
      if (unlistedKinds.length > 0) {
        report();
        return `the operator has listed all resources of ${unlistedKinds.join(' and ')}`;
      }
      if (others.size + place < limit) {
        waiting.delete(key);
        admitted.add(key);
      }
      report();
      return admitted.has(key) ? undefined : wordsFor(key, others, place);
    },
    release,
    begun(key) {
      if (admitted.has(key)) used.add(key);
    },
    isUnderway(key) {
      if (countsFor(key) === undefined) return;
      waiting.delete(key);
      admitted.add(key);
      used.add(key);
      report();
    },
    giveBack,
    leave(key) {
      const wasInLine = waiting.delete(key);
      giveBack(key);
      // The next one may have waited for this one alone.
      if (wasInLine) wakeNext();
    },
    isAwaited: (key) => waiting.size > 0 && (admitted.has(key) || rolling.has(key)),
  };

  /** A status names no cluster of another namespace: its readers may have no access to that namespace. */
  function wordsFor(key: ClusterKey, others: ReadonlySet<ClusterKey>, place: number): string {
    const [, namespace] = key.split('/');
    const [known] = [...others].filter((other) => other.split('/')[1] === namespace);
    const before = place === 0 ? '' : `, and ${place} more ${place === 1 ? 'is' : 'are'} before it`;
    if (known === undefined || others.size > 1) {
      const clusters = others.size > 1 ? `${others.size} other clusters` : 'another cluster';
      return `those of ${clusters}, since at most ${limit} of this operator may restart pods at once${before}`;
    }
    const [name = '', , cluster = ''] = known.split('/');
    const kind = databases.get(name)?.kind.resource.kind ?? name;
    return `those of ${kind} ${cluster}, since at most ${limit} of this operator may restart pods at once${before}`;
  }
}

/** Of a program that serves one cluster at a time. */
export const unlimitedRollouts: Rollouts = {
  take: () => undefined,
  release: () => undefined,
  begun: () => undefined,
  isUnderway: () => undefined,
  giveBack: () => undefined,
  leave: () => undefined,
  isAwaited: () => false,
};
