/** Which part of a backup goes onto the volume of a new cluster, and what that cluster is told of it. */
import { Failure } from '../../../../engine/driver/failure.ts';
import { type RedisDestination, type RedisShardsState, type RedisState, shardsIn } from '../../backup/schemas.ts';
import { restoredShardText } from '../../client/restored-shard.ts';
import { parseSlots } from '../../kind/slots.ts';

type ShardState = RedisShardsState['shards'][number];

/** @throws Failure Unfit */
export function partFor({ shard }: RedisDestination, state: RedisState): number | undefined {
  const shards = shardsIn(state);
  if (shards === undefined) {
    if (shard === undefined) return undefined;
    throw new Failure('Unfit', 'the backup is of a Redis without shards: restore it into mode Sentinel or Standalone');
  }
  const inWords = `the backup is of a Redis Cluster of ${shards.length} shards`;
  if (shard === undefined) throw new Failure('Unfit', `${inWords}: restore it into mode Cluster`);
  if (shard.count === shards.length) return shard.index;
  const advice = `restore it into ${shards.length} shards, and change the number afterwards`;
  throw new Failure('Unfit', `${inWords}, and the new one has ${shard.count}: ${advice}`);
}

/** Undefined where the volume is of no Redis Cluster. */
export function shardAt({ shard }: RedisDestination, state: RedisState): ShardState | undefined {
  return shard === undefined ? undefined : shardsIn(state)?.[shard.index];
}

export function toldOf({ slots, firstDatabase }: ShardState): string {
  const lastingKeys = firstDatabase === undefined ? 0 : firstDatabase.keys - firstDatabase.expiring;
  return restoredShardText({ slots: parseSlots(slots) ?? [], lastingKeys: Math.max(0, lastingKeys) });
}
