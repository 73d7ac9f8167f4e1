/** Redis: a primary with replicas under Sentinel, a single node, or a Redis Cluster, each with rules of its own: the mode decides which. */

import type { Engine } from '../../engine/engine.ts';
import { actRedis } from './act/act.ts';
import type { RedisAction } from './action.ts';
import { redisBackup } from './backup/support.ts';
import { redisDefinition } from './definition.ts';
import type { RedisSpec } from './kind/schema.ts';
import { dataPort, sentinelPort, tlsPort } from './names.ts';
import { listenToRedis, redisEndpoints } from './observe/listen.ts';
import { observeRedis } from './observe/observe.ts';
import { nothingObserved, type RedisObserved } from './observe/observed.ts';
import { observeShards } from './observe/shards/observe.ts';
import type { ShardsObserved } from './observe/shards/observed.ts';
import { type ShardsSituation, shardsSituation } from './observe/shards/situation.ts';
import { type Situation, situationOf } from './observe/situation.ts';
import { forecastRedis } from './plan/forecast.ts';
import { redisMaintenance } from './plan/maintenance.ts';
import { planRedis } from './plan/plan.ts';
import { planShards } from './plan/shards/plan.ts';
import { redisPermissions } from './resources/permissions.ts';
import { redisResources } from './resources/resources.ts';
import { shardsStatus } from './status/shards.ts';
import { redisStatus } from './status.ts';

type AnySituation = Situation | ShardsSituation;

const isOfShards = (observed: RedisObserved | ShardsObserved): observed is ShardsObserved =>
  observed.data.every((node) => node.state === 'silent' || 'view' in node);

export const redis: Engine<RedisSpec, RedisObserved | ShardsObserved, AnySituation, RedisAction> = {
  definition: redisDefinition,
  permissions: redisPermissions,
  ports: [dataPort, sentinelPort, tlsPort],
  resources: redisResources,
  observe: (cluster, children, io) =>
    cluster.spec.mode === 'Cluster' ? observeShards(cluster, children, io) : observeRedis(cluster, children, io),
  situation: (cluster, children, observed) =>
    cluster.spec.mode === 'Cluster'
      ? shardsSituation(cluster, children, isOfShards(observed) ? observed : nothingObserved)
      : situationOf(cluster, children, observed),
  plan: (situation) => ('shards' in situation ? planShards(situation) : planRedis(situation)),
  act: actRedis,
  status: (situation, plan) => ('shards' in situation ? shardsStatus(situation, plan) : redisStatus(situation, plan)),
  offlineObservation: nothingObserved,
  backup: redisBackup,
  forecast: forecastRedis,
  maintenance: redisMaintenance,
  listener: { endpoints: redisEndpoints, listen: listenToRedis },
};
