/**
 * What the controller needs for the Jobs in which the agent works, and for the claims that they fill. It reads no Secret
 * of theirs: the kubelet mounts them.
 */
import type { PolicyRule } from '../engine/engine.ts';

export const jobPermissions: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  // Whether one says that backups may run as it.
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get'] },
];

export const cronJobPermissions: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
];

/** The claim of the first member is made before the StatefulSet that takes it over. */
export const fillPermissions: readonly PolicyRule[] = [
  ...jobPermissions,
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['create', 'patch'] },
];
