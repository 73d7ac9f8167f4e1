/**
 * What a valid spec gives up, or risks: said in the condition `SpecWarning` for as long as it is so. Refusing it would
 * make clusters invalid that run with it.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { canonicalQuantity, unitsOf } from '../../../api/quantity.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { replicasPerShardOf } from '../kind/shards.ts';
import { requiredReplicas } from '../names.ts';
import { hasFence } from '../resources/fence.ts';
import { dynamicSettings } from '../resources/settings.ts';
import { timingOf } from '../resources/timing.ts';

/**
 * The append-only file holds the data once as its base and as much again before it is rewritten, and a rewrite writes
 * the next base and what is written meanwhile beside them.
 */
const timesData = 4;

export function specWarnings(cluster: Cluster<RedisSpec>): readonly SpecWarning[] {
  return [...withoutCopies(cluster), ...unfenced(cluster), ...hastyFailover(cluster), ...smallVolume(cluster)];
}

function unfenced(cluster: Cluster<RedisSpec>): SpecWarning[] {
  const { mode, replicas } = cluster.spec;
  const isAlone = mode !== 'Sentinel' || replicas < 2;
  if (isAlone || hasFence(cluster) || dynamicSettings(cluster)[requiredReplicas] !== '0') return [];
  const also = replicas === 2 ? ' and two data nodes' : ' and config.min-replicas-to-write 0';
  return [
    {
      reason: 'PrimaryNotFenced',
      message: `with sentinel.fence.mode Off${also} a primary that is cut off from everybody goes on taking writes, which are lost when another has been elected; use another mode`,
    },
  ];
}

function withoutCopies({ spec }: Cluster<RedisSpec>): SpecWarning[] {
  if (spec.mode !== 'Cluster' || replicasPerShardOf(spec) > 0) return [];
  const message =
    'with replicasPerShard 0 the slots of a shard are down while its pod is, also during a restart, and lost with its volume; use 1 or more';
  return [{ reason: 'ShardsWithoutReplicas', message }];
}

function hastyFailover(cluster: Cluster<RedisSpec>): SpecWarning[] {
  const { mode, sentinel } = cluster.spec;
  if (mode !== 'Sentinel' || timingOf(cluster).isEnoughToLeave) return [];
  const message =
    `sentinel.downAfter ${sentinel.downAfter} is less than 3s: a node that has just joined a primary which is cut off may not ` +
    'leave it before another is elected, and what it alone has acknowledged is lost';
  return [{ reason: 'DownAfterTooShort', message }];
}

function smallVolume(cluster: Cluster<RedisSpec>): SpecWarning[] {
  const { size } = cluster.spec.storage;
  const data = Number(dynamicSettings(cluster).maxmemory ?? 0);
  if (unitsOf(size) >= data * timesData) return [];
  const needed = canonicalQuantity(`${Math.ceil((data * timesData) / 1024 ** 2)}Mi`);
  return [
    {
      reason: 'StorageTooSmall',
      message: `storage.size ${size} is less than ${timesData} times maxmemory (${needed}): a rewrite of the append-only file may fill the volume`,
    },
  ];
}
