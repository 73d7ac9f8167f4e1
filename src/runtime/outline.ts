/**
 * What is kept of an object that is larger than any of ours: whose it is, and that it is there. Anybody may set our labels on
 * an object; the memory that it takes would be that of everybody's operator.
 *
 * An outline has no spec and no status, and nothing may be decided on it: a cluster without a spec is a valid one, with the
 * default of every field. So it says of itself that it is one, in a field that the API server lets no object have.
 */
import type { KubeObject } from '../api/object.ts';
import { blocked } from '../plan/plan.ts';
import { oursOf } from './transform.ts';

/** In KiB of JSON: more than any object that we make has. */
const longestKib = 256;
/** In characters of JSON. */
export const longest = longestKib * 1024;

const mostReferences = 8;

export function outline({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  const { labels = {}, ownerReferences, finalizers } = metadata;
  const known = { name, namespace, uid, resourceVersion, generation, deletionTimestamp };
  return {
    apiVersion,
    kind,
    metadata: {
      ...(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as { name: string }),
      labels: oursOf(labels),
      ...(ownerReferences === undefined ? {} : { ownerReferences: ownerReferences.slice(0, mostReferences) }),
      ...(finalizers === undefined ? {} : { finalizers: finalizers.slice(0, mostReferences) }),
    },
    spec: {},
    status: {},
    isOutline: true,
  };
}

export function isOutline(object: KubeObject): boolean {
  return object.isOutline === true;
}

/** What is said where something rests on such an object. */
export function tooLarge({ kind, metadata: { name } }: KubeObject) {
  return blocked(
    'TooLarge',
    `${kind} ${name} is larger than ${longestKib} KiB and is not kept in memory, perhaps for its annotations or finalizers: nothing is changed until it is smaller`,
  );
}
