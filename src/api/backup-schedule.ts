/**
 * BackupSchedule: backups of one cluster at given times, which a CronJob takes whether the operator runs or not.
 *
 * The times are checked as far as rules can; the API server has the last word when the CronJob is made.
 */

import { scheduleStatusSchema } from './backup-status.ts';
import { backedUpSchema, encryptionSchema, targetSchema } from './backup-target.ts';
import { durationSchema } from './duration.ts';
import { group, version } from './group.ts';
import type { KindDefinition } from './kind.ts';
import { metadataSchema } from './metadata.ts';
import type { CelRule, Defaulted, StructuralSchema, Written } from './schema.ts';
import { aboutDatabaseFields } from './selectable-fields.ts';
import { timeZoneSchema } from './time-zone.ts';

const parts = [
  { name: 'minute', bounds: '0 to 59', number: '[0-5]?[0-9]' },
  { name: 'hour', bounds: '0 to 23', number: '([01]?[0-9]|2[0-3])' },
  { name: 'day of the month', bounds: '1 to 31', number: '(0?[1-9]|[12][0-9]|3[01])' },
  { name: 'month', bounds: '1 to 12', number: '(0?[1-9]|1[0-2])' },
  { name: 'day of the week', bounds: '0 to 6, from Sunday', number: '[0-6]' },
] as const;

/** A list of numbers, ranges and steps, or every one. */
function listOf(number: string): string {
  const part = `([*]|${number}(-${number})?)(/[1-9][0-9]?)?`;
  return `^${part}(,${part})*$`;
}

/** Rules and no pattern, since a rule has words: each tells which of the parts is wrong. */
const timeRules: readonly CelRule[] = [
  {
    rule: "self.split(' ').size() == 5",
    message:
      'must have five parts with one blank between them: minute, hour, day of the month, month, day of the week, as in "15 3 * * *"',
  },
  ...parts.map(({ name, bounds, number }, at) => ({
    rule: `self.split(' ').size() != 5 || self.split(' ')[${at}].matches('${listOf(number)}')`,
    message: `the ${name} (part ${at + 1} of 5) must be * or numbers from ${bounds}; ranges (1-5), steps (*/15) and lists (1,3) are made of these`,
  })),
  // Refused by Kubernetes only when the CronJob is made.
  {
    rule: "self.findAll('[0-9]{1,2}-[0-9]{1,2}').all(range, int(range.split('-')[0]) <= int(range.split('-')[1]))",
    message: 'a range must not end before it begins',
  },
];

export const agePattern = '^[1-9][0-9]{0,3}[hd]$';

const retentionSchema = {
  type: 'object',
  description: 'Which backups of this schedule are kept. The newest good one is always kept.',
  default: {},
  properties: {
    count: {
      type: 'integer',
      description: 'Number of backups to keep.',
      minimum: 1,
      maximum: 1000,
      default: 7,
    },
    age: {
      type: 'string',
      description: 'Backups that are older are deleted, too. In hours or days, such as 36h or 30d.',
      pattern: agePattern,
      maxLength: 5,
    },
  },
} as const satisfies StructuralSchema;

export const scheduleSpecSchema = {
  type: 'object',
  description: 'The cluster to back up, the times, and the target.',
  required: ['cluster', 'schedule', 'target'],
  properties: {
    cluster: {
      ...backedUpSchema,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'cluster is immutable' }],
    },
    schedule: {
      type: 'string',
      description:
        'Times of the runs in cron format: minute, hour, day of the month, month and day of the week, in numbers.',
      maxLength: 80,
      'x-kubernetes-validations': timeRules,
    },
    timeZone: timeZoneSchema('Time zone of the schedule, such as Europe/Berlin.'),
    jitter: durationSchema(
      'Each run starts after a random delay of up to this time, so that schedules with the same times do not run at once.',
      '0s',
      '0s',
      '60m',
    ),
    startingDeadline: durationSchema(
      'A run that cannot begin within this time is skipped, and the schedule is Degraded with the reason RunOverdue.',
      '10m',
      '10s',
      '1440m',
    ),
    suspend: { type: 'boolean', description: 'Start no more runs.', default: false },
    retention: retentionSchema,
    target: targetSchema,
    encryption: encryptionSchema,
  },
} as const satisfies StructuralSchema;

/** After defaulting. */
export type ScheduleSpec = Defaulted<typeof scheduleSpecSchema>;
/** As people write it. */
export type ScheduleSpecInput = Written<typeof scheduleSpecSchema>;

const description = 'Backups of a cluster at given times.';

export const scheduleKind: KindDefinition = {
  resource: { group, version, kind: 'BackupSchedule', plural: 'backupschedules', namespaced: true },
  singular: 'backupschedule',
  shortNames: ['cwbs'],
  description,
  schema: {
    type: 'object',
    description,
    required: ['spec'],
    properties: { metadata: metadataSchema, spec: scheduleSpecSchema, status: scheduleStatusSchema },
  },
  selectableFields: aboutDatabaseFields,
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase of the schedule.' },
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule', description: 'Schedule in cron format.' },
    { name: 'Kind', type: 'string', jsonPath: '.spec.cluster.kind', description: 'Kind of the cluster.' },
    { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster.name', description: 'Name of the cluster.' },
    {
      name: 'Last Success',
      type: 'date',
      jsonPath: '.status.lastSuccess.completedAt',
      description: 'Time since the last verified backup.',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation.' },
    {
      name: 'Suspended',
      type: 'boolean',
      jsonPath: '.spec.suspend',
      description: 'Whether the schedule is suspended.',
      priority: 1,
    },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      description: 'Message of the condition Ready.',
      priority: 1,
    },
  ],
};
