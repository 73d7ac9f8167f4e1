/** Names that users and other tools rely on: the API group, and the labels, annotations and finalizer under it. */

export const group = 'clusterwright.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}` as const;

/** On every child: the name of the custom resource it belongs to. */
export const clusterLabel = `${group}/cluster`;
/** On data pods: what the member is right now, for example `primary`. Services select by it. */
export const roleLabel = `${group}/role`;

/** `true` stops all changes to a cluster, like `spec.paused`. */
export const pausedAnnotation = `${group}/paused`;
/** Any new value makes the controller look at the cluster at once. */
export const reconcileAtAnnotation = `${group}/reconcile-at`;

/** Held on a custom resource until its `deletionPolicy` has been carried out. */
export const finalizer = `${group}/cleanup`;
