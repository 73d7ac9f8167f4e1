/** Whose backup it is, and what it was made for: a part of a backup's place in the target, and of its manifest. */
import type { Defaulted, StructuralSchema } from '../api/schema.ts';

const name = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$', maxLength: 253 } as const;
/** As Kubernetes makes them; anything that is safe as a folder's name will do. */
export const uidSchema = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9-]*$', maxLength: 64 } as const;

export const clusterIdentitySchema = {
  type: 'object',
  required: ['namespace', 'kind', 'name', 'uid'],
  properties: {
    namespace: name,
    kind: { type: 'string', pattern: '^[A-Z][A-Za-z0-9]*$', maxLength: 63 },
    name,
    uid: uidSchema,
  },
} as const satisfies StructuralSchema;

export type ClusterIdentity = Defaulted<typeof clusterIdentitySchema>;

/**
 * On demand (`Backup`), by a `BackupSchedule`, as the last one of a cluster that is being deleted, before another minor
 * version, or as the base of an archive of the log.
 */
export const purposeSchema = {
  type: 'object',
  required: ['type', 'name'],
  properties: {
    type: { type: 'string', enum: ['backup', 'schedule', 'deletion', 'version', 'archive'] },
    name: {
      ...name,
      description: 'Of the Backup or BackupSchedule; of the cluster itself for `deletion`, `version` and `archive`.',
    },
    uid: {
      ...uidSchema,
      description:
        'Of the same object; for `version`, of this very change, in this hour. A second attempt finds by it what the first one has stored for `backup` and `version`.',
    },
  },
} as const satisfies StructuralSchema;

export type Purpose = Defaulted<typeof purposeSchema>;

/** The folder of a cluster's backups below a target's prefix; ids of backups are the folders in it. */
export function clusterFolder({ namespace, kind, uid }: ClusterIdentity): string {
  return `${namespace}/${kind}/${uid}`;
}
