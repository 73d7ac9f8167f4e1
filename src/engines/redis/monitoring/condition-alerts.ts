/** Alerts on conditions that the operator reports, with or without exporters. */
import { type Alert, conditions, theResource } from '../../../engine/monitoring.ts';
import { redisKind } from '../kind/schema.ts';

const { kind } = redisKind.resource;
const isTrue = (type: string): string =>
  `max by (namespace, name) (${conditions(`customresource_kind="${kind}", type="${type}"`)}) == 1`;
const describe = '`kubectl describe rediscluster NAME`: the message of the condition names the node and quotes it.';

export const redisConditionAlerts: readonly Alert[] = [
  {
    name: 'RedisDiskFull',
    expr: isTrue('DiskFull'),
    for: '1m',
    severity: 'critical',
    summary: `A volume of Redis ${theResource} is full: the node refuses writes.`,
    meaning:
      'A node refuses writes because its volume is full or over its quota. The operator restarts no pod meanwhile.',
    actions: [
      describe,
      'Raise `storage.size`, or free space. Redis accepts writes again when the volume has grown, without a restart.',
    ],
  },
  {
    name: 'RedisPersistenceFailing',
    expr: isTrue('PersistenceFailing'),
    for: '2m',
    severity: 'critical',
    summary: `A node of Redis ${theResource} cannot write its data to its volume.`,
    meaning:
      'The append-only file cannot be written, or its rewrite or a snapshot has failed. What was written since then may be lost if the node stops. If the file cannot be written, the operator restarts no pod.',
    actions: [
      describe,
      'Look at the log of the node, and at the volume. If a rewrite has failed for want of memory, raise `resources.limits.memory`.',
    ],
  },
  {
    name: 'RedisReplicationBroken',
    expr: isTrue('ReplicationBroken'),
    for: '5m',
    severity: 'warning',
    summary: `Replication of Redis ${theResource} is broken.`,
    meaning:
      'A replica has no link to its primary and does not copy, or the primary refuses writes because it has too few replicas.',
    actions: [
      describe,
      'Look whether the pods of the replicas run, and whether they reach the primary on port 6379.',
      'Look at the log of the primary: an output buffer that is too small ends the link again and again.',
    ],
  },
];
