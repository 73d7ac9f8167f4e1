/**
 * The objects of one resource as this process knows them: fed by a reflector and by the answers to our own writes.
 *
 * Knowledge never goes back. A version older than the one held is ignored, what is known to be gone stays gone, and
 * another UID under the same name is a delete and an add. A relist takes effect as a whole, when it is complete;
 * only an own write that the list is too old to show outlives it, and only once.
 */
import type { KubeObject } from '../api/object.ts';
import type { Log } from '../system/log.ts';
import type { ExactRef } from './client.ts';
import { type Compressed, createCompressor } from './compression.ts';
import type { Metrics } from './metrics.ts';
import { createObjectIndex, type IndexFunction } from './object-index.ts';
import { isPostOwned } from './ownership.ts';
import { isNewer } from './resource-version.ts';
import { createTombstones } from './tombstones.ts';
import { type Transform, wholeObject } from './transform.ts';

/** Where a change was learned: from a complete list, from the watch, or from the answer to a request of our own. */
export type Origin = 'list' | 'watch' | 'response';

export type Change =
  | { readonly type: 'added'; readonly object: KubeObject; readonly previous?: undefined; readonly origin: Origin }
  | { readonly type: 'updated'; readonly object: KubeObject; readonly previous: KubeObject; readonly origin: Origin }
  /** `object` is the last state that was known. */
  | { readonly type: 'deleted'; readonly object: KubeObject; readonly previous: KubeObject; readonly origin: Origin };

export type Listener = (change: Change) => void;

export interface StoreEntry {
  /** As the transform left it. */
  readonly object: KubeObject;
  /** Fields of it belong to an `Update` entry of ours: see `ownership.ts`. */
  readonly postOwned: boolean;
}

export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

/** What readers see. */
export interface Store {
  get(name: ObjectName): KubeObject | undefined;
  entry(name: ObjectName): StoreEntry | undefined;
  /** All objects, or those of one namespace, in no particular order. */
  list(namespace?: string): KubeObject[];
  /** Throws if there is no index of that name. */
  byIndex(index: string, value: string): KubeObject[];
  /** The keys of the same objects, none of which is unpacked for it. */
  keysByIndex(index: string, value: string): readonly string[];
  readonly size: number;
  /** Whether one complete list has arrived. Until then absence means nothing. */
  readonly hasSynced: boolean;
  /** Calls back on every change from now on. A listener that throws is logged and counted, and called again next time. */
  subscribe(listener: Listener): () => void;
  /** The answer to our own write: visible at once, until the watch brings something newer. */
  observeWrite(object: KubeObject): void;
  /**
   * The answer to a GET that was sent because the store did not have the object: it exists, perhaps outside of what the
   * watch selects. Shown until a list or the watch knows better.
   */
  observeRead(object: KubeObject): void;
  /** The answer to a request shows it as the watch does not select it any more. It may come back. */
  observeLeave(object: KubeObject): void;
  /** Our own delete was carried out: the object is not seen alive again, however late the watch is. */
  observeDelete(ref: ExactRef): void;
}

/** What the reflector does. */
export interface StoreFeed {
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
  beginReplacement(): Replacement;
}

/** A list being received. Nothing of it is visible before `commit`; an abandoned one leaves no trace. */
export interface Replacement {
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** `resourceVersion` is that of the list. */
  commit(resourceVersion: string): void;
}

export interface StoreOptions {
  /** Plural name, for logs and metrics. */
  readonly resource: string;
  /** Default: everything but managed fields. */
  readonly transform?: Transform | undefined;
  readonly indexes?: Readonly<Record<string, IndexFunction>> | undefined;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'storeObjects' | 'handlerErrors'> | undefined;
}

/** What is held of an object at rest: what decides about news, and the rest packed. */
interface Held {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly postOwned: boolean;
  readonly compressed: Compressed;
  /** Known only from our own write; the watch has not shown it yet. */
  readonly unconfirmed: boolean;
  /** Was newer than a list that did not show it. */
  readonly outlivedList: boolean;
}

export function createStore(options: StoreOptions): Store & StoreFeed {
  const { resource, log, metrics, transform = wholeObject } = options;
  const objects = new Map<string, Held>();
  const indexes = Object.entries(options.indexes ?? {}).map(([name, values]) => ({
    name,
    index: createObjectIndex(values),
  }));
  const compressor = createCompressor();
  const tombstones = createTombstones();
  const listeners = new Set<Listener>();
  let hasSynced = false;
  /** The store has seen everything up to this version: lists are complete, and a watch keeps the order. */
  let seenUpTo: string | undefined;

  function project(raw: KubeObject, unconfirmed: boolean): { readonly held: Held; readonly object: KubeObject } {
    const postOwned = isPostOwned(raw);
    const object = transform(raw);
    const { uid, resourceVersion } = object.metadata;
    const compressed = compressor.compress(object);
    return { object, held: { uid, resourceVersion, postOwned, compressed, unconfirmed, outlivedList: false } };
  }

  /** Puts an object in place of what its key held and returns the changes, oldest first. */
  function place(key: string, next: Held, object: KubeObject, origin: Origin): Change[] {
    const held = objects.get(key);
    if (held !== undefined && held.uid !== next.uid) {
      return [...drop(key, held, origin), ...place(key, next, object, origin)];
    }
    const previous = held === undefined ? undefined : compressor.decompress(held.compressed);
    if (previous !== undefined) for (const { index } of indexes) index.remove(key, previous);
    objects.set(key, next);
    for (const { index } of indexes) index.insert(key, object);
    return previous === undefined
      ? [{ type: 'added', object, origin }]
      : [{ type: 'updated', object, previous, origin }];
  }

  /** `version` is when it was gone; without one it is gone for good. */
  function drop(key: string, held: Held, origin: Origin, version?: string): Change[] {
    const object = compressor.decompress(held.compressed);
    tombstones.bury(held.uid, version);
    objects.delete(key);
    for (const { index } of indexes) index.remove(key, object);
    return [{ type: 'deleted', object, previous: object, origin }];
  }

  function keysIn(name: string, value: string): string[] {
    const found = indexes.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`the store of ${resource} has no index ${name}`);
    return [...found.index.keys(value)];
  }

  function see(version: string | undefined): void {
    if (seenUpTo === undefined || isNewer(version, seenUpTo)) seenUpTo = version;
  }

  function acceptWrite(raw: KubeObject): void {
    const { uid, resourceVersion } = raw.metadata;
    // Written and gone again before the answer came: a list or the watch would have shown it.
    const isOver = seenUpTo === resourceVersion || isNewer(seenUpTo, resourceVersion);
    if (isOver && objects.get(keyOf(raw.metadata))?.uid !== uid) return;
    if (!tombstones.covers(uid, resourceVersion)) accept(raw, 'response');
  }

  function accept(raw: KubeObject, origin: 'watch' | 'response'): void {
    const { uid, resourceVersion } = raw.metadata;
    const key = keyOf(raw.metadata);
    const held = objects.get(key);
    if (held !== undefined) {
      if (isNewer(held.resourceVersion, resourceVersion)) {
        // An older life of the name is over for good; an older version of the same life is just late.
        if (held.uid !== uid) tombstones.bury(uid);
        return;
      }
      if (held.uid === uid && held.resourceVersion === resourceVersion) {
        if (origin === 'watch' && held.unconfirmed) objects.set(key, { ...held, unconfirmed: false });
        return;
      }
    }
    const next = project(raw, origin === 'response');
    emit(place(key, next.held, next.object, origin));
  }

  function discard(name: ObjectName, uid: string | undefined, origin: 'watch' | 'response', version?: string): void {
    const key = keyOf(name);
    const held = objects.get(key);
    if (held === undefined || held.uid !== uid) tombstones.bury(uid, version);
    else if (!isNewer(held.resourceVersion, version)) emit(drop(key, held, origin, version));
  }

  function emit(changes: readonly Change[]): void {
    metrics?.storeObjects.set({ resource }, objects.size);
    for (const change of changes) {
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (err) {
          metrics?.handlerErrors.inc({ resource });
          log.error({ err, resource, key: keyOf(change.object.metadata) }, 'a change listener threw');
        }
      }
    }
  }

  function isBuried({ uid, resourceVersion }: Held): boolean {
    return tombstones.covers(uid, resourceVersion);
  }

  function commit(incoming: ReadonlyMap<string, Held>, version: string): void {
    const changes: Change[] = [];
    for (const [key, held] of [...objects]) {
      const next = incoming.get(key);
      if (held.unconfirmed && !held.outlivedList && isNewer(held.resourceVersion, version)) {
        objects.set(key, { ...held, outlivedList: true });
      } else if (next === undefined || isBuried(next)) {
        changes.push(...drop(key, held, 'list', version));
      } else if (sameVersion(held, next)) {
        objects.set(key, { ...held, unconfirmed: false });
      } else {
        changes.push(...place(key, next, compressor.decompress(next.compressed), 'list'));
      }
    }
    for (const [key, next] of incoming) {
      if (!objects.has(key) && !isBuried(next))
        changes.push(...place(key, next, compressor.decompress(next.compressed), 'list'));
    }
    tombstones.age();
    hasSynced = true;
    seenUpTo = version;
    emit(changes);
  }

  return {
    get(name) {
      const held = objects.get(keyOf(name));
      return held === undefined ? undefined : compressor.decompress(held.compressed);
    },
    entry(name) {
      const held = objects.get(keyOf(name));
      return held === undefined
        ? undefined
        : { object: compressor.decompress(held.compressed), postOwned: held.postOwned };
    },
    list(namespace) {
      const all = Array.from(objects.values(), (held) => compressor.decompress(held.compressed));
      return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
    },
    byIndex(name, value) {
      return keysIn(name, value).flatMap((key) => {
        const held = objects.get(key);
        return held === undefined ? [] : [compressor.decompress(held.compressed)];
      });
    },
    keysByIndex: keysIn,
    get size() {
      return objects.size;
    },
    get hasSynced() {
      return hasSynced;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    observeWrite: acceptWrite,
    observeRead(object) {
      if (!tombstones.isFinal(object.metadata.uid)) accept(object, 'response');
    },
    observeLeave: ({ metadata }) => discard(metadata, metadata.uid, 'response', metadata.resourceVersion),
    observeDelete: (ref) => discard(ref, ref.uid, 'response'),
    put(object) {
      const { uid, resourceVersion } = object.metadata;
      see(resourceVersion);
      if (!tombstones.covers(uid, resourceVersion)) accept(object, 'watch');
    },
    remove({ metadata }) {
      see(metadata.resourceVersion);
      discard(metadata, metadata.uid, 'watch', metadata.resourceVersion);
    },
    beginReplacement() {
      const incoming = new Map<string, Held>();
      const isLate = ({ metadata }: KubeObject): boolean =>
        isNewer(incoming.get(keyOf(metadata))?.resourceVersion, metadata.resourceVersion);
      return {
        put(object) {
          if (!isLate(object)) incoming.set(keyOf(object.metadata), project(object, false).held);
        },
        remove(object) {
          if (!isLate(object)) incoming.delete(keyOf(object.metadata));
        },
        commit: (version) => commit(incoming, version),
      };
    },
  };
}

/** `namespace/name`, or `name` for objects of the whole cluster: the key under which a store holds an object. */
export function keyOf(name: ObjectName): string {
  return name.namespace === undefined ? name.name : `${name.namespace}/${name.name}`;
}

function sameVersion(a: Held, b: Held): boolean {
  return a.uid === b.uid && a.resourceVersion !== undefined && a.resourceVersion === b.resourceVersion;
}
