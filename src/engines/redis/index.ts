/** Redis: a primary with replicas under Sentinel, or a single node. */

import type { Engine } from '../../engine/engine.ts';
import { actRedis } from './act/act.ts';
import type { RedisAction } from './action.ts';
import { redisBackup } from './backup/support.ts';
import { redisDefinition } from './definition.ts';
import type { RedisSpec } from './kind/schema.ts';
import { dataPort, sentinelPort } from './names.ts';
import { listenToRedis, redisEndpoints } from './observe/listen.ts';
import { observeRedis } from './observe/observe.ts';
import { nothingObserved, type RedisObserved } from './observe/observed.ts';
import { type Situation, situationOf } from './observe/situation.ts';
import { forecastRedis } from './plan/forecast.ts';
import { planRedis } from './plan/plan.ts';
import { redisPermissions } from './resources/permissions.ts';
import { redisResources } from './resources/resources.ts';
import { redisStatus } from './status.ts';

export const redis: Engine<RedisSpec, RedisObserved, Situation, RedisAction> = {
  definition: redisDefinition,
  permissions: redisPermissions,
  ports: [dataPort, sentinelPort],
  resources: redisResources,
  observe: observeRedis,
  situation: situationOf,
  plan: planRedis,
  act: actRedis,
  status: redisStatus,
  offlineObservation: nothingObserved,
  backup: redisBackup,
  forecast: forecastRedis,
  listener: { endpoints: redisEndpoints, listen: listenToRedis },
};
