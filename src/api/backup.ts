/** Backup: one backup of one cluster, taken once. What it says never changes, so a name stands for one backup. */

import { backupStatusSchema } from './backup-status.ts';
import { backedUpSchema, encryptionSchema, targetSchema } from './backup-target.ts';
import { group, version } from './group.ts';
import type { KindDefinition } from './kind.ts';
import { metadataSchema } from './metadata.ts';
import type { Defaulted, StructuralSchema, Written } from './schema.ts';
import { aboutDatabaseFields } from './selectable-fields.ts';

export const backupSpecSchema = {
  type: 'object',
  description: 'The cluster to back up, and the target.',
  required: ['cluster', 'target'],
  properties: { cluster: backedUpSchema, target: targetSchema, encryption: encryptionSchema },
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'a Backup is immutable; create another one' }],
} as const satisfies StructuralSchema;

/** After defaulting. */
export type BackupSpec = Defaulted<typeof backupSpecSchema>;
/** As people write it. */
export type BackupSpecInput = Written<typeof backupSpecSchema>;

const description = 'A backup of a cluster, taken once and verified.';

export const backupKind: KindDefinition = {
  resource: { group, version, kind: 'Backup', plural: 'backups', namespaced: true },
  singular: 'backup',
  shortNames: ['cwb'],
  description,
  schema: {
    type: 'object',
    description,
    required: ['spec'],
    properties: { metadata: metadataSchema, spec: backupSpecSchema, status: backupStatusSchema },
  },
  selectableFields: aboutDatabaseFields,
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase of the backup.' },
    { name: 'Kind', type: 'string', jsonPath: '.spec.cluster.kind', description: 'Kind of the cluster.' },
    { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster.name', description: 'Name of the cluster.' },
    { name: 'Size', type: 'integer', jsonPath: '.status.size', description: 'Size of the data in bytes.' },
    {
      name: 'Completed',
      type: 'date',
      jsonPath: '.status.completedAt',
      description: 'Time since the backup was verified.',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation.' },
    { name: 'Id', type: 'string', jsonPath: '.status.id', description: 'ID of the backup in the target.', priority: 1 },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      description: 'Message of the condition Ready.',
      priority: 1,
    },
  ],
};
