/** What Pod Security "restricted" asks for, and a read-only root file system on top. Every pod we make has exactly this. */

import type { k8s } from 'cdk8s-plus-28';
import type { Plain } from './plain.ts';

/** No passwd entry is needed; above 10000, so that it is no account of the node. */
export const uid = 10001;

export const podSecurityContext: Plain<k8s.PodSecurityContext> = {
  runAsNonRoot: true,
  runAsUser: uid,
  runAsGroup: uid,
  fsGroup: uid,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

export const containerSecurityContext: Plain<k8s.SecurityContext> = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
