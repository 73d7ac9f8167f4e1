/**
 * What the controller needs for the children of a Redis cluster. Nothing may be listed that no feature uses.
 *
 * Secrets can be read and made by name, never listed or watched: the password is needed to speak to the database.
 * `delete` on claims and Secrets serves `deletionPolicy: Delete` alone.
 */
import type { PolicyRule } from '../../../engine/engine.ts';

export const redisPermissions: readonly PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['services', 'configmaps'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  // `patch` renews certificates. Whoever may delete a Secret and create another one may do as much.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch', 'delete'] },
  // Served only where cert-manager is installed, and made only where it is asked for.
  {
    apiGroups: ['cert-manager.io'],
    resources: ['certificates'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['networkpolicies'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: ['policy'],
    resources: ['poddisruptionbudgets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
];
