/** Redis: a primary with replicas under Sentinel, or a single node. */
import type { RedisSpec } from '../../api/redis.ts';
import type { Engine } from '../engine.ts';
import { actRedis } from './act.ts';
import type { RedisAction } from './action.ts';
import { redisBackup } from './backup.ts';
import { redisDefinition } from './definition.ts';
import { forecastRedis } from './forecast.ts';
import { listenToRedis, redisEndpoints } from './listen.ts';
import { dataPort, sentinelPort } from './names.ts';
import { observeRedis } from './observe.ts';
import { nothingObserved, type RedisObserved } from './observed.ts';
import { redisPermissions } from './permissions.ts';
import { planRedis } from './plan.ts';
import { redisResources } from './resources.ts';
import { redisStatus } from './status.ts';

export const redis: Engine<RedisSpec, RedisObserved, RedisAction> = {
  definition: redisDefinition,
  permissions: redisPermissions,
  ports: [dataPort, sentinelPort],
  resources: redisResources,
  observe: observeRedis,
  plan: planRedis,
  act: actRedis,
  status: redisStatus,
  nothing: nothingObserved,
  backup: redisBackup,
  forecast: forecastRedis,
  listener: { endpoints: redisEndpoints, listen: listenToRedis },
};
