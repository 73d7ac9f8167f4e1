/** When the operator may interrupt members for what can wait: the field `maintenance` of every kind of database. */
import type { Defaulted, StructuralSchema } from './schema.ts';
import { timeZoneSchema } from './time-zone.ts';

export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

export const maintenanceSchema = {
  type: 'object',
  description: 'When the operator may restart members for changes that can wait.',
  properties: {
    windows: {
      type: 'array',
      description:
        'Times at which a rollout may begin. Outside of them, members keep their pods, and repairs, failovers and scaling go on. A rollout that has begun continues after the end of the window. When absent, at any time.',
      minItems: 1,
      maxItems: 14,
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        description: 'A window on each of its days.',
        required: ['start', 'duration'],
        properties: {
          days: {
            type: 'array',
            description: 'Days on which the window opens. When absent, every day.',
            minItems: 1,
            maxItems: 7,
            'x-kubernetes-list-type': 'set',
            items: { type: 'string', description: 'Day of the week.', enum: weekdays },
          },
          start: {
            type: 'string',
            description: 'Time of the day at which the window opens, such as 22:30.',
            pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
            maxLength: 5,
          },
          duration: {
            type: 'string',
            description:
              'How long the window is open, in hours or minutes, such as 2h or 90m. From 10m to 24h. It may end on the next day.',
            pattern: '^[1-9][0-9]{0,3}[hm]$',
            maxLength: 5,
            'x-kubernetes-validations': [
              {
                rule: "duration(self) >= duration('10m') && duration(self) <= duration('24h')",
                message: 'must be from 10m to 24h',
              },
            ],
          },
          timeZone: timeZoneSchema('Time zone of start and days, such as Europe/Berlin.'),
        },
      },
    },
  },
} as const satisfies StructuralSchema;

export type Maintenance = Defaulted<typeof maintenanceSchema>;
export type MaintenanceWindow = NonNullable<Maintenance['windows']>[number];

/** While it is there, rollouts begin outside of windows, too. The operator removes it when none is left to do. */
export const maintenanceNowAnnotation = 'clusterwright.dev/maintenance-now';
/** `true`: rollouts of the cluster do not wait for those of others, and others do not wait for them. */
export const ignoreLimitAnnotation = 'clusterwright.dev/ignore-rollout-limit';
/** On the custom resource, and from there on the pods: another text has all members restart, one at a time. */
export const restartAnnotation = 'clusterwright.dev/restart';
/** On the custom resource: the pod that is to be primary. */
export const switchoverAnnotation = 'clusterwright.dev/switchover-to';
