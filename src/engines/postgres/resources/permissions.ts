/**
 * What the controller needs for the children of a PostgresCluster. Secrets can be read, made and renewed by name, never listed or watched.
 * `delete` on claims and Secrets serves `deletionPolicy: Delete` alone.
 */
import type { PolicyRule } from '../../../engine/engine.ts';

const everything = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

export const postgresPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services', 'configmaps', 'serviceaccounts'], verbs: everything },
  // The operator can grant pods no more than it may do itself: `patch` on pods and ConfigMaps is what they get.
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: everything },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch', 'delete'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: everything },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: everything },
];
