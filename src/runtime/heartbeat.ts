/**
 * Changes that say only that a process is alive. A database that keeps its lock in the API server writes to it every few seconds, and its
 * cluster needs no reconcile for that.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object.ts';
import type { Change } from './store.ts';

/** `annotations`: those that are written again and again. Whether nothing but these has changed. */
export function isHeartbeat(change: Change, annotations: ReadonlySet<string>): boolean {
  if (change.type !== 'updated' || annotations.size === 0) return false;
  return isDeepStrictEqual(atRest(change.previous, annotations), atRest(change.object, annotations));
}

function atRest(object: KubeObject, left: ReadonlySet<string>): KubeObject {
  const { resourceVersion: _, annotations = {}, ...metadata } = object.metadata;
  const kept = Object.entries(annotations).filter(([name]) => !left.has(name));
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
}
