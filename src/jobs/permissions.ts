/**
 * What the controller itself needs of the API server, besides what engines declare for their children. RBAC is derived
 * from this list and the engines'; nothing else is granted.
 */
import type { Resource } from '../api/object.ts';
import type { KindHandler, PolicyRule } from '../engine/engine.ts';
import { fillPermissions } from './agent-permissions.ts';

const watching = ['get', 'list', 'watch'];

/** The Lease that replicas of the operator compete for, in the operator's own namespace. */
export const leaseName = 'clusterwright';

/** In the operator's own namespace. `create` cannot be limited to a name. */
export const ownPermissions: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'update'],
    resourceNames: [leaseName],
  },
];

/**
 * What the cache waits for, whether an engine here makes any of it or not. Written out, and not taken from the cache's own list:
 * a kind that is added there is granted by a decision of its own.
 */
const watchedKinds: readonly PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['configmaps', 'services', 'serviceaccounts', 'persistentvolumeclaims', 'pods'],
    verbs: watching,
  },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: watching },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: watching },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: watching },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: watching },
  { apiGroups: ['batch'], resources: ['jobs', 'cronjobs'], verbs: watching },
];

/** For dry runs alone: the operator makes no pod. Kubernetes has no right for dry runs only. */
const dryRunsOfPods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['create'] };

/** For resizes in place, of any database: the pod's mark and label, its resources, and what its former template was. */
const resizing: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods', 'pods/resize'], verbs: ['patch'] },
  { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['get'] },
];

function ownKind({ group, plural }: Resource): readonly PolicyRule[] {
  return [
    // `patch` sets and removes our finalizer.
    { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['patch'] },
    // Children name their custom resource as an owner that waits for them, which some clusters ask this for.
    { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ['update'] },
  ];
}

/** In every namespace that is watched. Without `dryRuns`, pod templates are not judged, and everything else goes on. */
export function watchedPermissions(engines: readonly KindHandler[], dryRuns = true): readonly PolicyRule[] {
  return [
    ...engines.flatMap(({ kind }) => ownKind(kind.resource)),
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ...watchedKinds,
    ...(dryRuns ? [dryRunsOfPods] : []),
    ...resizing,
    ...engines.flatMap((engine) => engine.permissions),
    // Restores, and the last backup of a cluster.
    ...(engines.some(({ backup }) => backup !== undefined) ? fillPermissions : []),
  ];
}
