/** What people watch of Redis: the exporters beside its nodes and sentinels, and conditions. */
import type { EngineMonitoring } from '../../../engine/monitoring.ts';
import { redisKind } from '../kind/schema.ts';
import { redisAlerts } from './alerts.ts';
import { redisConditionAlerts } from './condition-alerts.ts';
import { redisPanels } from './panels.ts';

export const redisMonitoring: EngineMonitoring = {
  name: 'redis',
  kind: redisKind.resource.kind,
  title: 'Redis',
  requires:
    'Most of these alerts need the [exporters](../engines/redis/guide.md#metrics): `spec.monitoring: {}` of the RedisCluster. `RedisDiskFull`, `RedisPersistenceFailing` and `RedisReplicationBroken` use [the conditions](../monitoring.md#conditions-as-metrics) that the operator reports.',
  scrapes: [
    { component: 'data', port: 'metrics', member: 'pod' },
    { component: 'sentinel', port: 'metrics', member: 'pod' },
  ],
  alerts: [...redisAlerts, ...redisConditionAlerts],
  panels: redisPanels,
};
