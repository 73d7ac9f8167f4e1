/** What the passes after the next one do with a Redis Cluster, for people who read a plan. */
import type { Cluster } from '../../../../api/cluster.ts';
import type { Children } from '../../../../resources/children.ts';
import type { RedisSpec } from '../../kind/schema.ts';
import { firstSlotsOf, replicasPerShardOf, shardsOf } from '../../kind/shards.ts';
import { slotText } from '../../kind/slots.ts';
import { nothingObserved } from '../../observe/observed.ts';
import { type Shard, shardsSituation } from '../../observe/shards/situation.ts';
import { shardSetName } from '../../resources/shards/names.ts';

export function shardsToCome(cluster: Cluster<RedisSpec>, children: Children): readonly string[] {
  const { shards, isFormed } = shardsSituation(cluster, children, nothingObserved);
  const { name } = cluster.metadata;
  const wanted = replicasPerShardOf(cluster.spec) + 1;
  const isNew = shards.every(({ set }) => children.statefulSet(set) === undefined);
  if (isNew && isFormed) {
    const volumes = children.claims.map(({ metadata }) => metadata.name);
    return [`the volumes of an earlier cluster of this name are taken over: ${volumes.join(', ')}`];
  }
  if (isNew) {
    const count = shardsOf(cluster.spec);
    const each = Array.from(
      { length: count },
      (_, shard) => `give slots ${slotText(firstSlotsOf(shard, count))} to a node of ${shardSetName(name, shard)}`,
    );
    const replicas = wanted > 1 ? ['make the other nodes of each shard replicas of it'] : [];
    return ['record on the volumes which node gets which slots', ...each, 'have the nodes meet', ...replicas];
  }
  const leaving = shards.flatMap(({ set, size }) =>
    Array.from({ length: Math.max(0, size - wanted) }, (_, i) => `${set}-${wanted + i}`),
  );
  const count = shardsOf(cluster.spec);
  const sets = (are: (shard: Shard) => boolean): string =>
    shards
      .filter(are)
      .map(({ set }) => set)
      .join(', ');
  const added = sets(({ set }) => children.statefulSet(set) === undefined);
  const removed = sets(({ index }) => index >= count);
  return [
    ...(leaving.length === 0
      ? []
      : [
          `${leaving.join(', ')} leave, one at a time, a primary after another node has taken over; their volumes stay`,
        ]),
    ...(added === '' ? [] : [`move slots to ${added}, with their keys, until all ${count} shards have equal shares`]),
    ...(removed === ''
      ? []
      : [
          `move all slots and keys away from ${removed}, have all nodes forget its nodes, and remove it; its volumes stay`,
        ]),
  ];
}
