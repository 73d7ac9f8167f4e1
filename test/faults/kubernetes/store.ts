/**
 * What the API server remembers: every object as it is, and every change since the last compaction, under one version
 * that grows with each. Stored objects are never changed in place, so they are handed out as they are.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Commit } from '../world/kubernetes.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Served } from './served.ts';

export interface StoredCommit extends Commit {
  readonly served: Served;
  /** After a delete: the object as it was, with the version of its end. */
  readonly last: KubeObject;
}

export interface Change {
  readonly actor: string;
  readonly served: Served;
  readonly subresource?: string | undefined;
  readonly before: KubeObject | undefined;
  /** Undefined: the object goes. Its resourceVersion is set here. */
  readonly after: KubeObject | undefined;
}

export interface Store {
  readonly version: number;
  /** What is older is forgotten. */
  readonly oldest: number;
  readonly commits: readonly StoredCommit[];
  get(plural: string, namespace: string | undefined, name: string): KubeObject | undefined;
  byUid(uid: string): KubeObject | undefined;
  /** In the order of creation. */
  all(plural: string): IterableIterator<KubeObject>;
  everything(): readonly KubeObject[];
  commit(change: Change): KubeObject;
  /** Of one resource, after that version, oldest first. */
  since(plural: string, version: number): readonly StoredCommit[];
  objectsAt(version: number): readonly KubeObject[];
  compact(): void;
  onCommit(call: (commit: StoredCommit) => void): void;
}

const texts = new WeakMap<object, string>();

/** The JSON of a stored object, made once. */
export function textOf(object: KubeObject): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

const firstVersion = 1000;

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

export function createStore(time: Pick<VirtualTime, 'monotonic'>): Store {
  const tables = new Map<string, Map<string, KubeObject>>();
  const uids = new Map<string, KubeObject>();
  const commits: StoredCommit[] = [];
  const logs = new Map<string, StoredCommit[]>();
  const listeners: ((commit: StoredCommit) => void)[] = [];
  let version = firstVersion;
  let everything: KubeObject[] | undefined;
  let oldest = firstVersion;
  /** How far `objectsAt` was asked last: questions mostly go forward. */
  let past = { version: firstVersion, next: 0, objects: new Map<string, KubeObject>() };

  function tableOf(plural: string): Map<string, KubeObject> {
    let table = tables.get(plural);
    if (table === undefined) {
      table = new Map();
      tables.set(plural, table);
    }
    return table;
  }

  return {
    get version() {
      return version;
    },
    get oldest() {
      return oldest;
    },
    commits,
    get: (plural, namespace, name) => tables.get(plural)?.get(`${namespace ?? ''}/${name}`),
    byUid: (uid) => uids.get(uid),
    all: (plural) => tableOf(plural).values(),
    everything() {
      everything ??= [...tables.values()].flatMap((table) => [...table.values()]);
      return everything;
    },
    commit({ actor, served, subresource, before, after }) {
      version++;
      everything = undefined;
      const source = after ?? before;
      if (source === undefined) throw new Error('a change has an object before it or after it');
      const object: KubeObject = { ...source, metadata: { ...source.metadata, resourceVersion: String(version) } };
      const table = tableOf(served.plural);
      const uid = object.metadata.uid ?? '';
      if (after === undefined) {
        table.delete(keyOf(object));
        uids.delete(uid);
      } else {
        table.set(keyOf(object), object);
        uids.set(uid, object);
      }
      const commit: StoredCommit = {
        version,
        at: time.monotonic(),
        actor,
        verb: before === undefined ? 'create' : after === undefined ? 'delete' : 'update',
        resource: served.plural,
        ...(subresource === undefined ? {} : { subresource }),
        before,
        after: after === undefined ? undefined : object,
        served,
        last: object,
      };
      commits.push(commit);
      let log = logs.get(served.plural);
      if (log === undefined) {
        log = [];
        logs.set(served.plural, log);
      }
      log.push(commit);
      for (const call of listeners) call(commit);
      return object;
    },
    since(plural, after) {
      const log = logs.get(plural) ?? [];
      let low = 0;
      let high = log.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((log[middle]?.version ?? 0) > after) high = middle;
        else low = middle + 1;
      }
      return log.slice(low);
    },
    objectsAt(asked) {
      if (asked < past.version) past = { version: firstVersion, next: 0, objects: new Map() };
      for (
        let commit = commits[past.next];
        commit !== undefined && commit.version <= asked;
        commit = commits[past.next]
      ) {
        const uid = commit.last.metadata.uid ?? '';
        if (commit.after === undefined) past.objects.delete(uid);
        else past.objects.set(uid, commit.after);
        past.next++;
      }
      past.version = asked;
      return [...past.objects.values()];
    },
    compact() {
      oldest = version;
    },
    onCommit: (call) => void listeners.push(call),
  };
}
