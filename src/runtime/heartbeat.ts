/**
 * Changes that say only that a process is alive. A database that keeps its lock in the API server writes to it every few seconds, and its
 * cluster needs no reconcile for that.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object.ts';
import type { Heartbeats } from '../engine/engine.ts';
import type { Change } from './store.ts';

export function isHeartbeat(change: Change, withoutHeartbeats: Heartbeats | undefined): boolean {
  if (change.type !== 'updated' || withoutHeartbeats === undefined) return false;
  return isDeepStrictEqual(atRest(change.previous, withoutHeartbeats), atRest(change.object, withoutHeartbeats));
}

function atRest(object: KubeObject, withoutHeartbeats: Heartbeats): KubeObject {
  const { resourceVersion: _, annotations = {}, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, annotations: withoutHeartbeats(annotations) } };
}
