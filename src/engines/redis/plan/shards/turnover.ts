/** A planned failover within a shard: `CLUSTER FAILOVER` on a replica that has everything, also on its disk. */
import type { ActStep } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import type { Shard } from '../../observe/shards/situation.ts';
import { member } from './target.ts';

/** Undefined where nobody can take over. */
export function takeOverStep(
  { nodes, primary }: Shard,
  why: string,
  mayLead: (node: ShardNode) => boolean,
): ActStep<RedisAction> | undefined {
  if (primary === undefined) return undefined;
  const able = nodes.filter(
    (node) =>
      node !== primary &&
      node.self.primaryId === primary.id &&
      node.linkUp &&
      node.failoverEligible &&
      node.unwritten !== true &&
      primary.replicas.includes(node.address) &&
      mayLead(node),
  );
  const [first, ...others] = able;
  if (first === undefined) return undefined;
  const best = others.reduce((one, node) => (node.offset > one.offset ? node : one), first);
  return {
    type: 'act',
    action: { type: 'redis.takeOver', node: member(best), primary: member(primary) },
    summary: `have ${best.pod} take over from ${primary.pod}: ${why}`,
    event: 'HandOver',
  };
}
