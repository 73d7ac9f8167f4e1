/** Redis, as the agent knows it. */

import type { Held } from '../../../backup/sudden-loss.ts';
import { bytesLost, keysLost } from '../../../backup/sudden-loss.ts';
import { type Driver, defineDriver } from '../../../engine/driver/driver.ts';
import {
  keysByDatabase,
  type RedisDestination,
  type RedisSource,
  type RedisState,
  redisContents,
  redisSchemas,
} from '../backup/schemas.ts';
import { canRead, parseServer } from '../kind/server.ts';
import { dumpRedis } from './dump.ts';
import { checkedRdb } from './rdb.ts';
import { dumpShards } from './shards/dump.ts';
import { partFor, shardAt, toldOf } from './shards/place.ts';
import { begunFrom, fillRedisVolume } from './volume.ts';

function amountOf({ id, state }: Held<RedisState>) {
  const keys = Object.values(keysByDatabase(state)).reduce((sum, count) => sum + count, 0);
  return { id, keys, hasData: keys > 0 };
}

export const redisDriver: Driver = defineDriver<RedisSource, RedisDestination, RedisState>({
  engine: 'redis',
  kind: 'RedisCluster',
  schemas: redisSchemas,
  dump: (source, context) =>
    source.shards === undefined ? dumpRedis(source, context) : dumpShards(source, source.shards, context),
  begun: ({ directory }) => begunFrom(directory),
  async fill(destination, origin, content, { signal }, state) {
    const { directory } = destination;
    const shard = shardAt(destination, state);
    const filled = await fillRedisVolume(directory, origin, content, signal, shard?.slots);
    return shard === undefined ? filled : { ...filled, told: toldOf(shard) };
  },
  partFor,
  check: checkedRdb,
  describe: (state) => ({ contents: redisContents(state) }),
  lossSince: (before, after) => keysLost(amountOf(before), amountOf(after)) ?? bytesLost(before, after),
  canRead: (written, wanted) => canRead(parseServer(wanted), parseServer(written)),
});
