/** What a cluster begins with, and where its backups go: the same fields in every kind of database. */
import { encryptionSchema, targetSchema } from './backup-target.ts';
import { durationSchema } from './duration.ts';
import type { CelRule, StructuralSchema } from './schema.ts';

const restoreProperties = {
  target: targetSchema,
  encryption: encryptionSchema,
  id: {
    type: 'string',
    description: 'ID of the backup. When absent, the newest backup of the cluster.',
    pattern: '^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$',
    maxLength: 25,
  },
  cluster: {
    type: 'object',
    description:
      'Cluster that the backup was taken of. A field that is absent matches every cluster. If backups of several clusters match, the restore is refused.',
    default: {},
    properties: {
      namespace: {
        type: 'string',
        description: 'Namespace of that cluster.',
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        maxLength: 63,
      },
      name: {
        type: 'string',
        description: 'Name of that cluster.',
        pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
        maxLength: 40,
      },
      uid: {
        type: 'string',
        description: 'UID of that cluster. It distinguishes clusters with the same name.',
        pattern: '^[A-Za-z0-9][A-Za-z0-9-]*$',
        maxLength: 64,
      },
    },
  },
} as const satisfies Readonly<Record<string, StructuralSchema>>;

/** `more`: what a restore of this kind of database may be told besides. */
export const bootstrapSchema = <const More extends Readonly<Record<string, StructuralSchema>>>(more: More) =>
  ({
    type: 'object',
    description: 'Initial data of a new cluster. It is used once, before the cluster has any data. Immutable.',
    required: ['restore'],
    properties: {
      restore: {
        type: 'object',
        description: 'Start with the data of a backup.',
        required: ['target'],
        properties: { ...restoreProperties, ...more },
      },
    },
  }) as const satisfies StructuralSchema;

/** On `spec`, since a rule on an optional field is skipped when it comes or goes. */
export const bootstrapRules = [
  {
    rule: 'has(self.bootstrap) == has(oldSelf.bootstrap) && (!has(self.bootstrap) || self.bootstrap == oldSelf.bootstrap)',
    message: 'bootstrap is immutable',
    fieldPath: '.bootstrap',
  },
] as const satisfies readonly CelRule[];

/** `besides`: which backups this kind of database takes by itself beside the last one. */
export const backupPolicySchema = (besides = '') =>
  ({
    type: 'object',
    description: `Target and key of the backups that the operator takes by itself: the last one under deletionPolicy Snapshot${besides}. \`clusterwright backup create\` uses them, too. A BackupSchedule names its own target and key. When absent, the operator takes no such backup, and deletionPolicy Snapshot is refused.`,
    required: ['target'],
    properties: { target: targetSchema, encryption: encryptionSchema },
  }) as const satisfies StructuralSchema;

/** In the policy of a kind whose log can be archived. */
export const archiveSchema = {
  type: 'object',
  description:
    'Archive the log of the database continuously, in the target of the backups. A new cluster can then be restored to any point in time since the oldest backup. When absent, the log is not archived.',
  properties: {
    maxLag: durationSchema(
      'Time for which nothing may reach the archive before the cluster is reported as not ready. Writes continue in any case.',
      '60s',
      '15s',
      '60m',
    ),
  },
} as const satisfies StructuralSchema;

export const backupPolicyRules = [
  {
    rule: "self.deletionPolicy != 'Snapshot' || has(self.backup)",
    message: 'deletionPolicy Snapshot needs backup.target',
    fieldPath: '.backup',
  },
] as const satisfies readonly CelRule[];
