/**
 * What the controller needs for the children of a PostgresCluster. Secrets can be read, made and renewed by name, never listed or watched.
 * `delete` on claims and Secrets serves `deletionPolicy: Delete` alone.
 */
import type { PolicyRule } from '../../../engine/engine.ts';

const granting = ['get', 'list', 'watch', 'create', 'patch'];
const everything = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

export const postgresPermissions: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services', 'configmaps'], verbs: everything },
  // Of Patroni. Kubernetes lets the operator grant no more than it may do itself. They go with their cluster, by their owner.
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: granting },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: granting },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch', 'delete'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: everything },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: everything },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: everything },
];
