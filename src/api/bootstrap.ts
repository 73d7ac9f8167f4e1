/** What a cluster begins with, and where its backups go: the same fields in every kind of database. */
import { encryptionSchema, targetSchema } from './backup-target.ts';
import type { CelRule, StructuralSchema } from './schema.ts';

const restoreProperties = {
  target: targetSchema,
  encryption: encryptionSchema,
  id: {
    type: 'string',
    description: 'Id of the backup. When absent, the newest of the cluster.',
    pattern: '^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$',
    maxLength: 25,
  },
  cluster: {
    type: 'object',
    description: 'Whose backup it is. What is left out is not looked at; backups of several clusters are refused.',
    default: {},
    properties: {
      namespace: {
        type: 'string',
        description: 'Namespace that the cluster was in.',
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        maxLength: 63,
      },
      name: {
        type: 'string',
        description: 'Name that the cluster had.',
        pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
        maxLength: 40,
      },
      uid: {
        type: 'string',
        description: 'UID that the cluster had: tells clusters of one name apart.',
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
    description: 'What a new cluster begins with. It counts once, before there is any data. Immutable.',
    required: ['restore'],
    properties: {
      restore: {
        type: 'object',
        description: 'Begin with the data of a backup.',
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
    description: `Target and key of the backups that the cluster takes by itself: the last one under deletionPolicy Snapshot${besides}. \`clusterwright backup create\` takes them from here, too; backups at given times are a BackupSchedule, which names its own. When absent, no such backup is taken, and deletionPolicy Snapshot is refused.`,
    required: ['target'],
    properties: { target: targetSchema, encryption: encryptionSchema },
  }) as const satisfies StructuralSchema;

export const backupPolicyRules = [
  {
    rule: "self.deletionPolicy != 'Snapshot' || has(self.backup)",
    message: 'deletionPolicy Snapshot needs backup.target',
    fieldPath: '.backup',
  },
] as const satisfies readonly CelRule[];
