/**
 * What the controller needs for the children of an etcd cluster. Secrets can be read and made by name, never listed or
 * watched. `delete` on claims and Secrets serves `deletionPolicy: Delete` alone.
 */
import type { PolicyRule } from '../engine.ts';

export const etcdPermissions: readonly PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['services', 'configmaps'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'delete'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  {
    apiGroups: ['policy'],
    resources: ['poddisruptionbudgets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
];
