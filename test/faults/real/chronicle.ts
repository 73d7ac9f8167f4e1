/**
 * What happened to the objects of a namespace, as the API server told an administrator who watched all the time.
 *
 * It is the harness's own view: no fault of a plan touches it.
 */
import type { KubeObject, Resource } from '../../../src/api/object.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import type { Clock } from '../../../src/system/clock.ts';
import { childResources, redisClusters } from '../../support/resources.ts';

export interface Happening {
  readonly at: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Plural. */
  readonly resource: string;
  readonly object: KubeObject;
}

export interface Chronicle {
  /** Oldest first. What existed when the watching began is not in it. */
  readonly happenings: readonly Happening[];
  /** What is there now. */
  objects(): readonly KubeObject[];
  /** What was there when the server stood at that version, of one resource, by its plural. */
  objectsAt(version: number, resource: string): readonly KubeObject[];
  /** The newest version that was heard of. */
  version(): number;
  close(): Promise<void>;
}

export const watched: readonly Resource[] = [redisClusters, ...childResources];

/** Resolves when every resource has been seen in full. */
export async function openChronicle(client: KubeClient, namespace: string, clock: Clock): Promise<Chronicle> {
  const stopping = new AbortController();
  const happenings: Happening[] = [];
  const there = new Map<string, KubeObject>();
  const initial: { readonly resource: string; readonly object: KubeObject }[] = [];

  async function follow(resource: Resource, synced: () => void): Promise<void> {
    let resourceVersion: string | undefined;
    while (!stopping.signal.aborted) {
      const events = await client.watch(resource, {
        namespace,
        timeoutSeconds: 3600,
        resourceVersion,
        sendInitialEvents: resourceVersion === undefined,
        signal: stopping.signal,
      });
      for await (const event of events) {
        if (event.type === 'ERROR') throw new Error(`${resource.plural}: ${event.status.message}`);
        if (event.type === 'BOOKMARK') {
          resourceVersion = event.resourceVersion;
          if (event.initialEventsEnd) synced();
          continue;
        }
        const { object, type } = event;
        const { uid = '' } = object.metadata;
        if (type === 'DELETED') there.delete(uid);
        else there.set(uid, object);
        if (resourceVersion === undefined) {
          initial.push({ resource: resource.plural, object });
          continue;
        }
        resourceVersion = object.metadata.resourceVersion;
        happenings.push({ at: clock.monotonic(), type, resource: resource.plural, object });
      }
    }
  }

  let failed: unknown;
  const following: Promise<void>[] = [];
  const synced = watched.map(
    (resource) =>
      new Promise<void>((resolve, reject) => {
        following.push(
          follow(resource, resolve).catch((error: unknown) => {
            if (!stopping.signal.aborted) failed = error;
            reject(error);
          }),
        );
      }),
  );
  await Promise.all(synced);
  return {
    happenings,
    objects() {
      if (failed !== undefined) throw new Error('the chronicle has ended', { cause: failed });
      return [...there.values()];
    },
    objectsAt(version, resource) {
      const then = new Map<string | undefined, KubeObject>();
      for (const each of initial) if (each.resource === resource) then.set(each.object.metadata.uid, each.object);
      for (const { type, object, resource: of } of happenings) {
        if (of !== resource || Number(object.metadata.resourceVersion) > version) continue;
        if (type === 'DELETED') then.delete(object.metadata.uid);
        else then.set(object.metadata.uid, object);
      }
      return [...then.values()];
    },
    version: () =>
      Math.max(0, ...[...initial, ...happenings].map(({ object }) => Number(object.metadata.resourceVersion))),
    async close() {
      stopping.abort(new Error('the chronicle is closed'));
      await Promise.all(following);
    },
  };
}
