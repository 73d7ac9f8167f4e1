/**
 * Sizes of the shards. New replicas come at once: they copy and harm nobody. One that leaves hands over first, is forgotten by all others next, and
 * goes last: who still knew it would take it for failed. One at a time, and only while nothing is amiss.
 */
import { type Plan, wait } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import { replicasPerShardOf } from '../../kind/shards.ts';
import { isSurplus } from '../../observe/shards/distribution.ts';
import { isLeaving, type Shard, type ShardsSituation } from '../../observe/shards/situation.ts';
import { knownIn } from '../../observe/shards/views.ts';
import { member } from './target.ts';
import { handingOver } from './turnover.ts';

/** By the name of the StatefulSet. */
export type Sizes = ReadonlyMap<string, number>;

export interface ScaleIn {
  readonly plan: Plan<RedisAction>;
  /** To apply in this pass. */
  readonly sizes: Sizes;
}

/** A shard that is to go gets no more replicas: otherwise there would be more nodes for a while than any spec may ask for. */
export function presentSizes(situation: ShardsSituation): Sizes {
  const wanted = replicasPerShardOf(situation.spec) + 1;
  return new Map(
    situation.shards.map((shard) => {
      const { set, size } = shard;
      return [set, isSurplus(situation, shard) ? size : Math.max(size, wanted)];
    }),
  );
}

/** Asked of a cluster that is whole. Undefined where nobody has to go. */
export function planScaleIn(situation: ShardsSituation): ScaleIn | undefined {
  const wanted = replicasPerShardOf(situation.spec) + 1;
  const [shard] = situation.shards.filter(({ size }) => size > wanted);
  if (shard === undefined) return undefined;
  const sizes = presentSizes(situation);
  const last = `${shard.set}-${shard.size - 1}`;
  const leading = leaderLeaves(situation, shard);
  if (leading !== undefined) return { plan: leading, sizes };
  const node = shard.nodes.find(({ pod }) => pod === last);
  const knowing = situation.nodes.filter((one) => one !== node && knownIn(one).some(({ id }) => id === node?.id));
  if (node !== undefined && knowing.length > 0) {
    const nodes = situation.nodes.filter((one) => one !== node).map(member);
    return {
      plan: {
        steps: [
          {
            type: 'act',
            action: { type: 'redis.forgetNode', id: node.id, pod: last, nodes },
            summary: `have all other nodes forget ${last}, which is to be removed`,
          },
        ],
        outcome: wait('ScalingIn', `${last} is forgotten by the others`, 500),
      },
      sizes,
    };
  }
  return {
    plan: { steps: [], outcome: wait('ScalingIn', `${last} is removed`) },
    sizes: new Map(sizes).set(shard.set, shard.size - 1),
  };
}

function leaderLeaves(situation: ShardsSituation, shard: Shard): Plan<RedisAction> | undefined {
  const { primary } = shard;
  if (primary === undefined || !isLeaving(situation, primary.pod)) return undefined;
  const message = `${primary.pod} hands over, since it is to be removed`;
  return handingOver(shard, message, ({ pod }) => !isLeaving(situation, pod));
}
