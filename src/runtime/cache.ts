/**
 * What this process knows of the API: our custom resources and their children, one watch a kind and namespace, never
 * one a cluster. Secrets are not among them.
 */
import { setMaxListeners } from 'node:events';
import { childResources, optionalResources } from '../api/child-resources.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import { pods, resourceOf } from '../api/resource.ts';
import type { KindHandler, ObjectReference } from '../engine/engine.ts';
import { type Children, childrenOf } from '../resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../resources/metadata.ts';
import type { Clock, Random } from '../system/clock.ts';
import type { Log } from '../system/log.ts';
import type { KubeClient } from './client.ts';
import { isHeartbeat } from './heartbeat.ts';
import type { Metrics } from './metrics.ts';
import type { IndexFunction } from './object-index.ts';
import { createReflector, type Reflector } from './reflector.ts';
import { type Change, createStore, type Store, type StoreEntry } from './store.ts';
import { podSummary, type Transform, wholeObject, withoutNotes } from './transform.ts';

/** `ENGINE/NAMESPACE/NAME`: one cluster, in the queue and in every index. */
export type ClusterKey = string;

export function clusterKey(engine: string, namespace: string, name: string): ClusterKey {
  return `${engine}/${namespace}/${name}`;
}

/** The cluster that a labelled child belongs to. */
function keyOfChild(object: KubeObject): ClusterKey[] {
  const { labels = {}, namespace = '' } = object.metadata;
  const engine = labels[nameLabel];
  const name = labels[instanceLabel];
  return engine === undefined || name === undefined ? [] : [clusterKey(engine, namespace, name)];
}

const byCluster = 'cluster';
const byTarget = 'target';

/** What a resource of ours is about, as its raw spec says: `KIND/NAMESPACE/NAME`. */
function targetOf({ metadata, spec }: KubeObject): string[] {
  const { cluster } = (spec ?? {}) as { readonly cluster?: Partial<ObjectReference> | null };
  const { kind, name } = cluster ?? {};
  if (typeof kind !== 'string' || typeof name !== 'string') return [];
  return [`${kind}/${metadata.namespace ?? ''}/${name}`];
}

export interface Cache {
  /** Runs every watch until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Whether every kind of child of a namespace has been seen whole: without that, absence means nothing and no pass may
   * run there.
   */
  hasChildren(namespace: string): boolean;
  /**
   * Whether that is so of every namespace that this process may see. One of several that is gone, and its Roles with it,
   * is not waited for.
   */
  readonly hasAllChildren: boolean;
  /**
   * Whether at least one namespace is seen, and our own kinds have been seen whole, too; those that the API server does
   * not serve left out. A kind that has not been seen has no clusters here, and holds up those of no other.
   */
  readonly hasSynced: boolean;
  /**
   * Kinds of clusters that have yet to be seen whole, whatever is known of children. One that may not be read is not waited for, nor are
   * requests about clusters, such as backups.
   */
  readonly unlistedKinds: readonly string[];
  cluster(engine: KindHandler, namespace: string, name: string): KubeObject | undefined;
  /** Resources of other kinds that are about this one: backups of a cluster, for example. */
  keysByTargetRef(engine: KindHandler, namespace: string, name: string): ClusterKey[];
  children(key: ClusterKey): Children;
  entry(object: KubeObject): StoreEntry | undefined;
  /** The answer to our own write. Objects of a kind that is not watched are ignored. */
  observeWrite(object: KubeObject): void;
  /** The answer to a GET that was sent because the cache did not have the object. */
  observeRead(object: KubeObject): void;
  observeDelete(ref: { resource: Resource; namespace?: string; name: string; uid: string }): void;
  onClusterChange(call: (engine: KindHandler, change: Change) => void): void;
  /** Heartbeats apart. */
  onChildChange(call: (key: ClusterKey, change: Change) => void): void;
}

export interface CacheOptions {
  readonly client: KubeClient;
  readonly engines: readonly KindHandler[];
  /** Empty: all namespaces. One that is named twice counts once. */
  readonly namespaces: readonly string[];
  /** Of our own kinds: a resource that it does not select is not there. Children are seen whosever they are. */
  readonly selector?: LabelSelector | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Watched {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly store: Store;
  readonly reflector: Reflector;
}

export function createCache(options: CacheOptions): Cache {
  const { client, engines, clock, random, log, metrics } = options;
  const namespaces = options.namespaces.length === 0 ? [undefined] : [...new Set(options.namespaces)];

  const watch = (
    resource: Resource,
    labelSelector: string | undefined,
    transform: Transform,
    indexes: Readonly<Record<string, IndexFunction>>,
  ): Watched[] =>
    namespaces.map((namespace) => {
      const store = createStore({ resource: resource.plural, transform, indexes, log, metrics });
      const selection = { namespace, labelSelector };
      const isOptional = optionalResources.includes(resource);
      const options = { client, resource, selection, store, clock, random, log, metrics, isOptional };
      const reflector = createReflector(options);
      return { resource, namespace, store, reflector };
    });

  const clusters = engines.map((engine) => {
    const indexes = engine.targetRef === undefined ? {} : { [byTarget]: targetOf };
    return { engine, watched: watch(engine.kind.resource, options.selector?.text, withoutNotes, indexes) };
  });
  const children = childResources.flatMap((resource) => {
    const transform = resource === pods ? podSummary : wholeObject;
    return watch(resource, `${managedByLabel}=${managedBy}`, transform, { [byCluster]: keyOfChild });
  });
  const heartbeats = new Map(engines.map(({ name, withoutHeartbeats }) => [name, withoutHeartbeats]));
  const requests = clusters.filter(({ engine }) => engine.targetRef !== undefined);
  const databases = clusters.filter(({ engine }) => engine.targetRef === undefined);
  const all = [...clusters.flatMap(({ watched }) => watched), ...children];

  const resourceNamed = (object: KubeObject): Resource =>
    engines.find((engine) => engine.kind.resource.kind === object.kind)?.kind.resource ?? resourceOf(object);
  const storeFor = (resource: Resource, namespace: string | undefined): Store | undefined =>
    all.find((w) => w.resource === resource && (w.namespace === undefined || w.namespace === namespace))?.store;

  const isOwnKind = ({ kind }: KubeObject): boolean => engines.some((engine) => engine.kind.resource.kind === kind);
  /** The answer to a request tells of it whether it is selected or not: what has left must not come back by that. */
  const hasLeft = (object: KubeObject): boolean =>
    options.selector !== undefined && isOwnKind(object) && !options.selector.matches(object.metadata.labels);

  // Of what need not be there, absence means no harm: what exists is met when it is made again.
  const isSeen = ({ resource, store, reflector }: Watched): boolean =>
    store.hasSynced || (optionalResources.includes(resource) && reflector.wasTried);
  const byNamespace = new Map(namespaces.map((name) => [name, children.filter(({ namespace }) => namespace === name)]));
  const childrenIn = (watched: string | undefined): readonly Watched[] => byNamespace.get(watched) ?? [];
  const isComplete = (watched: string | undefined): boolean => childrenIn(watched).every(isSeen);
  const isForbidden = (watched: string | undefined): boolean =>
    childrenIn(watched).some((each) => !isSeen(each) && each.reflector.isForbidden);
  const hasAllChildren = (): boolean => namespaces.every((watched) => isComplete(watched) || isForbidden(watched));
  const ours = clusters.flatMap(({ watched }) => watched);
  const isOver = ({ namespace, store, reflector }: Watched): boolean =>
    store.hasSynced || !reflector.isServed || isForbidden(namespace);

  return {
    async run(signal) {
      // Every watch listens to it, and its requests do.
      setMaxListeners(4 * all.length, signal);
      await Promise.all(all.map(({ reflector }) => reflector.run(signal)));
    },
    hasChildren: (namespace) => isComplete(options.namespaces.length === 0 ? undefined : namespace),
    get hasAllChildren() {
      return hasAllChildren();
    },
    get hasSynced() {
      return namespaces.some(isComplete) && hasAllChildren() && ours.every(isOver);
    },
    get unlistedKinds() {
      const unlisted = databases.filter(({ watched }) =>
        watched.some((each) => !isOver(each) && !each.reflector.isForbidden),
      );
      return unlisted.map(({ engine }) => engine.kind.resource.kind);
    },
    cluster(engine, namespace, name) {
      return storeFor(engine.kind.resource, namespace)?.get({ namespace, name });
    },
    keysByTargetRef: ({ kind }, namespace, name) =>
      requests.flatMap(({ engine, watched }) =>
        watched
          .flatMap(({ store }) => store.keysByIndex(byTarget, `${kind.resource.kind}/${namespace}/${name}`))
          .map((key) => `${engine.name}/${key}`),
      ),
    children: (key) => childrenOf(children.flatMap(({ store }) => store.byIndex(byCluster, key))),
    entry: (object) => storeFor(resourceNamed(object), object.metadata.namespace)?.entry(object.metadata),
    observeWrite(object) {
      const store = storeFor(resourceNamed(object), object.metadata.namespace);
      if (hasLeft(object)) store?.observeLeave(object);
      else store?.observeWrite(object);
    },
    observeRead(object) {
      const store = storeFor(resourceNamed(object), object.metadata.namespace);
      if (hasLeft(object)) store?.observeLeave(object);
      else store?.observeRead(object);
    },
    observeDelete(ref) {
      storeFor(ref.resource, ref.namespace)?.observeDelete(ref);
    },
    onClusterChange(call) {
      for (const { engine, watched } of clusters) {
        for (const { store } of watched) store.subscribe((change) => call(engine, change));
      }
    },
    onChildChange(call) {
      for (const { store } of children) {
        store.subscribe((change) => {
          if (isHeartbeat(change, heartbeats.get(change.object.metadata.labels?.[nameLabel] ?? ''))) return;
          // Whoever has lost it to another one's label misses it.
          const before = change.previous === undefined ? [] : keyOfChild(change.previous);
          for (const key of new Set([...keyOfChild(change.object), ...before])) call(key, change);
        });
      }
    },
  };
}
