/** What a Backup and a BackupSchedule say: their types and schemas side by side. */
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
  id: text('Name of the backup in its target. It begins with the time by the clock of the pod that took it.', 100),
  location: text('Where it is kept.', 1024),
  engine: text('Database that the data is of.', 63),
  version: text('Version of the database.', 64),
  topology: text('What the cluster was like.', 253),
  size: bytes('Bytes of the data.'),
  storedSize: bytes('Bytes of what is stored.'),
  checksum: text('SHA-256 of the data, in hexadecimal digits.', 64),
  startedAt: time('When it was begun.'),
  completedAt: time('When it had been read back and found whole.'),
  durationSeconds: { type: 'number', description: 'Seconds in between.', minimum: 0 },
  contents: {
    type: 'object',
    description: 'What the database said of what it held, to be compared after a restore.',
    maxProperties: 64,
    additionalProperties: text('A number or a hash.', 100),
  },
  suddenLoss: text('Why it is thought to hold too little, compared with the backups before it.', 1024),
} as const satisfies Readonly<Record<string, StructuralSchema>>;

const run = (description: string) =>
  ({
    type: 'object',
    description,
    required: ['job', 'outcome'],
    properties: {
      job: text('Its Job.', 253),
      outcome: { type: 'string', description: 'What came of it.', enum: ['Verified', 'Failed'] },
      message: text('Why it failed, or what else is to be known.', 4096),
      ...resultProperties,
    },
  }) as const satisfies StructuralSchema;

const generation = {
  type: 'integer',
  format: 'int64',
  description: 'Generation of the spec that this status is about.',
  minimum: 0,
} as const;

export const backupStatusSchema = {
  type: 'object',
  description: 'What came of it. Written by the controller only.',
  properties: {
    observedGeneration: generation,
    phase: phaseSchema(['Pending', 'Running', 'Verified', 'Failed', 'Invalid', 'Blocked']),
    conditions,
    plan,
    ...resultProperties,
    job: text('The Job that takes it.', 253),
    attempts: { type: 'integer', description: 'Jobs that were made for it.', minimum: 0, maximum: 2 },
  },
} as const satisfies StructuralSchema;

export const scheduleStatusSchema = {
  type: 'object',
  description: 'What the last runs came to. Written by the controller only.',
  properties: {
    observedGeneration: generation,
    phase: phaseSchema(['Active', 'Suspended', 'Degraded', 'Invalid', 'Blocked']),
    conditions,
    plan,
    lastScheduledAt: time('When the last run was begun.'),
    resumedAt: time('When spec.suspend was last taken back: what was due before is not overdue.'),
    lastSuccess: run('The last run that ended with a verified backup.'),
    lastFailure: run('The last run that did not.'),
    results: {
      type: 'array',
      description: 'The last runs, newest first.',
      maxItems: 10,
      'x-kubernetes-list-type': 'atomic',
      items: run('One run.'),
    },
  },
} as const satisfies StructuralSchema;
