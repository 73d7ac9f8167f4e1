/**
 * Watches: what exists, if asked for, then every change in order. A change that moves an object in or out of the
 * selection shows as its birth or its end. Each watch lags behind by a few milliseconds of its own.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Random } from '../../../src/system/clock.ts';
import type { VirtualTime } from '../world/time.ts';
import { type ByteStream, byteStream } from './byte-stream.ts';
import { checkReached, inOrder, selectorOf, versionOf } from './listing.ts';
import { badRequest, expired, invalid } from './refusal.ts';
import type { Selector } from './selector.ts';
import type { Location } from './served.ts';
import { type Store, type StoredCommit, textOf } from './store.ts';

type Query = Readonly<Record<string, string>>;

export interface Watching {
  /** Throws a refusal. The stream ends when its time is over. */
  open(location: Location, query: Query): ByteStream;
}

const bookmarkEveryMs = 60_000;
const maxLagMs = 20;
const defaultTimeoutSeconds = 1800;

interface Watcher {
  readonly selects: Selector;
  readonly push: (frame: string) => void;
}

export function createWatching(options: {
  readonly store: Store;
  readonly time: VirtualTime;
  readonly random: Random;
}): Watching {
  const { store, time, random } = options;
  const watchers = new Map<string, Set<Watcher>>();

  store.onCommit((commit) => {
    for (const { selects, push } of watchers.get(commit.resource) ?? []) {
      const frame = frameOf(commit, selects);
      if (frame !== undefined) push(frame);
    }
  });

  function initialFrames(location: Location, query: Query, selects: Selector): string[] {
    const { served } = location;
    const version = versionOf(query.resourceVersion);
    const all = query.sendInitialEvents === 'true';
    if (all && query.resourceVersionMatch !== 'NotOlderThan') {
      throw invalid(
        served.kind,
        '',
        'resourceVersionMatch',
        'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      );
    }
    if (!all && version !== undefined && version !== 0) {
      if (version < store.oldest) throw expired(`too old resource version: ${version} (${store.oldest})`);
      return store.since(served.plural, version).flatMap((commit) => frameOf(commit, selects) ?? []);
    }
    if (version !== undefined) checkReached(store, version);
    const frames = inOrder(store.all(served.plural)).flatMap((object) =>
      selects(object) ? [frame('ADDED', textOf(object))] : [],
    );
    return all && query.allowWatchBookmarks === 'true' ? [...frames, bookmark(location, true)] : frames;
  }

  const bookmark = ({ served }: Location, isEnd: boolean): string => {
    const annotations = isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion: String(store.version), creationTimestamp: null, ...annotations };
    return frame('BOOKMARK', JSON.stringify({ kind: served.kind, apiVersion: served.apiVersion, metadata }));
  };

  return {
    open(location, query) {
      const { plural } = location.served;
      const selects = selectorOf(location, query);
      const ofResource = watchers.get(plural) ?? new Set<Watcher>();
      watchers.set(plural, ofResource);
      const first = initialFrames(location, query, selects);

      let waiting: string[] = [];
      let cancelDelivery: (() => void) | undefined;
      const deliver = (): void => {
        cancelDelivery = undefined;
        const frames = waiting;
        waiting = [];
        stream.write(frames.join(''));
      };
      const push = (text: string): void => {
        waiting.push(text);
        cancelDelivery ??= time.after(1 + random() * (maxLagMs - 1), deliver);
      };
      const watcher: Watcher = { selects, push };
      const stream = byteStream(() => {
        ofResource.delete(watcher);
        cancelDelivery?.();
        cancelBookmark();
        cancelEnd();
      });
      let cancelBookmark: () => void = () => undefined;
      const remind = (): void => {
        push(bookmark(location, false));
        cancelBookmark = time.after(bookmarkEveryMs * (0.9 + 0.2 * random()), remind);
      };
      if (query.allowWatchBookmarks === 'true') {
        cancelBookmark = time.after(bookmarkEveryMs * (0.9 + 0.2 * random()), remind);
      }
      const timeoutSeconds = Number(query.timeoutSeconds ?? defaultTimeoutSeconds);
      if (!(timeoutSeconds > 0)) throw badRequest(`invalid timeoutSeconds: ${query.timeoutSeconds}`);
      const cancelEnd = time.after(timeoutSeconds * 1000, () => {
        deliver();
        stream.end();
      });
      ofResource.add(watcher);
      if (first.length > 0) push(first.join(''));
      return stream;
    },
  };
}

const frame = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

export const errorFrame = (status: object): string => frame('ERROR', JSON.stringify(status));

/** Undefined where the change is outside of the selection. */
function frameOf({ before, after, last }: StoredCommit, selects: Selector): string | undefined {
  const was = before !== undefined && selects(before);
  const is = after !== undefined && selects(after);
  if (after !== undefined && is) return frame(was ? 'MODIFIED' : 'ADDED', textOf(after));
  if (!was) return undefined;
  return frame('DELETED', textOf(after === undefined ? last : asOf(before, last)));
}

const departed = new WeakMap<KubeObject, KubeObject>();

/** The object as it was last in the selection, with the version of its departure. */
function asOf(before: KubeObject, last: KubeObject): KubeObject {
  let object = departed.get(last);
  if (object === undefined) {
    const { resourceVersion = '' } = last.metadata;
    object = { ...before, metadata: { ...before.metadata, resourceVersion } };
    departed.set(last, object);
  }
  return object;
}
