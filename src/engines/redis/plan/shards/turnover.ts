/** A planned failover within a shard: `CLUSTER FAILOVER` on a replica that has everything, also on its disk. */
import { type ActStep, type Plan, wait } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import type { Shard } from '../../observe/shards/situation.ts';
import { member } from './target.ts';

const recheckMs = 500;

/** Undefined where nobody can take over. */
export function takeOverStep(
  { nodes, primary }: Shard,
  why: string,
  mayLead: (node: ShardNode) => boolean,
): ActStep<RedisAction> | undefined {
  if (primary === undefined) return undefined;
  const able = nodes.filter((node) => node !== primary && mayLead(node) && obstacleOf(node, primary) === undefined);
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

/** With the step, or why there is none. */
export function handingOver(shard: Shard, why: string, mayLead: (node: ShardNode) => boolean): Plan<RedisAction> {
  const step = takeOverStep(shard, why, mayLead);
  if (step !== undefined) return { steps: [step], outcome: wait('HandingOver', why, recheckMs) };
  return {
    steps: [],
    outcome: wait('HandingOver', `${why}, and nobody can take over: ${whyNobody(shard, mayLead)}`, recheckMs),
  };
}

/** In words, where there is no such step. */
function whyNobody({ nodes, primary }: Shard, mayLead: (node: ShardNode) => boolean): string {
  if (primary === undefined) return 'it has no primary';
  const replicas = nodes.filter((node) => node !== primary);
  if (replicas.length === 0) return 'no replica of it answers';
  return replicas
    .map((node) => obstacleOf(node, primary) ?? (mayLead(node) ? '' : `${node.pod} is to be removed, too`))
    .filter((words) => words !== '')
    .join('; ');
}

/** Why a node cannot be primary of its shard without losing anything; undefined where it can. */
function obstacleOf(node: ShardNode, primary: ShardNode): string | undefined {
  const { pod, self, linkUp, failoverEligible, unwritten, address } = node;
  if (self.primaryId !== primary.id) return `${pod} is no replica of ${primary.pod}`;
  if (!linkUp) return `${pod} is copying from ${primary.pod}`;
  if (!failoverEligible) return unelectable(node);
  if (self.isBarred) return barred(node);
  if (unwritten === true) return `${pod} has yet to write down what it has copied`;
  return primary.replicas.includes(address) ? undefined : `${pod} is catching up with ${primary.pod}`;
}

/** Its pod says so until the append-only file holds what it has copied, and takes it back then. */
export function unelectable({ pod }: ShardNode): string {
  return `${pod} may not be elected (replica-priority 0): its append-only file does not hold what it has copied`;
}

/** Its pod looks every few seconds whether the append-only file holds what the replica has copied. */
function barred({ pod }: ShardNode): string {
  return `${pod} may not be elected (cluster-replica-no-failover): its append-only file does not hold what it has copied, as far as its pod knows`;
}
