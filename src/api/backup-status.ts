/** What a Backup and a BackupSchedule say: their types and schemas side by side. */
import { observedGenerationSchema, unobservedStatus } from './observed-generation.ts';
import type { StructuralSchema } from './schema.ts';
import type { ClusterStatus } from './status.ts';
import { conditions, phaseSchema, plan, text } from './status-schema.ts';

type Common = Pick<ClusterStatus, 'observedGeneration' | 'phase' | 'conditions' | 'plan'>;

/** What is known of one backup that was taken, from the agent's last words. */
export interface BackupResult {
  readonly id?: string;
  readonly location?: string;
  readonly engine?: string;
  readonly version?: string;
  /** In words, for example `3 members`. */
  readonly topology?: string;
  /** Bytes of the data, and of what is stored. */
  readonly size?: number;
  readonly storedSize?: number;
  /** SHA-256 of the data. */
  readonly checksum?: string;
  /** RFC 3339. */
  readonly startedAt?: string;
  readonly completedAt?: string;
  readonly durationSeconds?: number;
  /** What the database said of what it held, to be compared after a restore. */
  readonly contents?: Readonly<Record<string, string>>;
  /** Why the backup, though whole, is thought to hold too little. */
  readonly suddenLoss?: string;
}

export interface BackupStatus extends Common, BackupResult {
  /** The Job that has been made for it, once and for all. */
  readonly job?: string;
  /** Jobs that were made: a second one only where the first vanished before it had ended. */
  readonly attempts?: number;
}

/** One run of a schedule. */
export interface RunResult extends BackupResult {
  readonly job: string;
  readonly outcome: 'Verified' | 'Failed';
  readonly message?: string;
}

export interface ScheduleStatus extends Common {
  readonly lastScheduledAt?: string;
  /** No run is overdue that was due before. */
  readonly resumedAt?: string;
  readonly lastSuccess?: RunResult;
  readonly lastFailure?: RunResult;
  /** Newest first. */
  readonly results?: readonly RunResult[];
}

const time = (description: string) => ({ type: 'string', description, format: 'date-time' }) as const;
const bytes = (description: string) => ({ type: 'integer', format: 'int64', description, minimum: 0 }) as const;

const resultProperties = {
  id: text(
    'Name of the backup in the target. It begins with the time, by the clock of the pod that took the backup.',
    100,
  ),
  location: text('Path of the backup in the target.', 1024),
  engine: text('Name of the database engine.', 63),
  version: text('Version of the database.', 64),
  topology: text('Size of the cluster, for example 3 members.', 253),
  size: bytes('Size of the data in bytes.'),
  storedSize: bytes('Size in bytes of the data as it is stored.'),
  checksum: text('SHA-256 of the data, in hexadecimal digits.', 64),
  startedAt: time('When the backup began.'),
  completedAt: time('When the agent had read the backup back and verified it.'),
  durationSeconds: { type: 'number', description: 'Seconds from startedAt to completedAt.', minimum: 0 },
  contents: {
    type: 'object',
    description: 'What the database reported about its data. A drill compares it with the restored data.',
    maxProperties: 64,
    additionalProperties: text('A number or a hash.', 100),
  },
  suddenLoss: text('Why data loss is suspected, compared with an earlier backup.', 1024),
} as const satisfies Readonly<Record<string, StructuralSchema>>;

const run = (description: string) =>
  ({
    type: 'object',
    description,
    required: ['job', 'outcome'],
    properties: {
      job: text('Name of the Job.', 253),
      outcome: { type: 'string', description: 'Result of the run.', enum: ['Verified', 'Failed'] },
      message: text('Why the run failed, or what else to know about it.', 4096),
      ...resultProperties,
    },
  }) as const satisfies StructuralSchema;

export const backupStatusSchema = {
  type: 'object',
  description: 'Result of the backup. Only the controller writes it.',
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(['Pending', 'Running', 'Verified', 'Failed', 'Invalid', 'Blocked']),
    conditions,
    plan,
    ...resultProperties,
    job: text('Name of the Job that takes the backup.', 253),
    attempts: {
      type: 'integer',
      description: 'Number of Jobs that were created for the backup.',
      minimum: 0,
      maximum: 2,
    },
  },
} as const satisfies StructuralSchema;

export const scheduleStatusSchema = {
  type: 'object',
  description: 'Results of the last runs. Only the controller writes it.',
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(['Active', 'Suspended', 'Degraded', 'Invalid', 'Blocked']),
    conditions,
    plan,
    lastScheduledAt: time('When the last run began.'),
    resumedAt: time('When spec.suspend was last set to false. Runs that were due before are not overdue.'),
    lastSuccess: run('The last run with a verified backup.'),
    lastFailure: run('The last run that failed.'),
    results: {
      type: 'array',
      description: 'The last runs, newest first.',
      maxItems: 10,
      'x-kubernetes-list-type': 'atomic',
      items: run('One run.'),
    },
  },
} as const satisfies StructuralSchema;
