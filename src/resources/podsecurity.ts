/** What Pod Security "restricted" asks for, and a read-only root file system on top. Every pod we make has exactly this. */

import type { k8s } from 'cdk8s-plus-28';
import { defaultUid } from '../api/pods.ts';
import type { Plain } from './plain.ts';

export function podSecurityContextOf(uid: number): Plain<k8s.PodSecurityContext> {
  return {
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: uid,
    fsGroup: uid,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

export const podSecurityContext = podSecurityContextOf(defaultUid);

export const containerSecurityContext: Plain<k8s.SecurityContext> = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
