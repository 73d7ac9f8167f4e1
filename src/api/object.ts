/**
 * Kubernetes objects as the plain JSON that crosses the wire.
 *
 * Nothing here is a class: what a builder returns, what the API server answers and what a test compares are the
 * same shape, and a field this version does not know survives every round trip.
 */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Which resource of the API: the static part of every request path. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As in the request path, for example `statefulsets`. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** One object, by name. `uid` is set where only that very object may be meant (every delete). */
export interface ObjectRef {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** `v1` or `apps/v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `Kind/name`, for messages to people. */
export function displayName(object: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${object.kind}/${object.metadata.name}`;
}
