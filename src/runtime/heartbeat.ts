/**
 * Changes that say only that a process is alive. A database that keeps its lock in the API server writes to it every few seconds, and its
 * cluster needs no reconcile for that.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object.ts';
import type { Heartbeats } from '../engine/engine.ts';
import type { Change } from './store.ts';

/** `annotations`: those that are written again and again. Whether nothing but these, as far as they are heartbeats, has changed. */
export function isHeartbeat(change: Change, annotations: Heartbeats): boolean {
  if (change.type !== 'updated' || Object.keys(annotations).length === 0) return false;
  return isDeepStrictEqual(atRest(change.previous, annotations), atRest(change.object, annotations));
}

function atRest(object: KubeObject, heartbeats: Heartbeats): KubeObject {
  const { resourceVersion: _, annotations = {}, ...metadata } = object.metadata;
  const kept = Object.entries(annotations).flatMap(([name, value]): [string, string][] => {
    if (!Object.hasOwn(heartbeats, name)) return [[name, value]];
    const rest = heartbeats[name]?.(value);
    return rest === undefined ? [] : [[name, rest]];
  });
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
}
