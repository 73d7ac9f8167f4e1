/**
 * Makes nodes known to each other: new ones, and those that cannot find each other since all have other addresses. One node meets all
 * others; they hear of each other from it. Who may be met is decided in `strangers.ts`, and the action asks both again.
 */
import type { ActStep } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import { isLeaving, type ShardsSituation } from '../../observe/shards/situation.ts';
import { isLinked } from '../../observe/shards/views.ts';
import { member } from './target.ts';

type Act = ActStep<RedisAction>;

/** In one pass: each takes two sessions. */
const mostMeetings = 50;

export function planMeetings(situation: ShardsSituation): Act[] {
  // One that is to go is met only where it has slots: it hands them over first.
  const nodes = situation.nodes.filter(({ pod, self }) => !isLeaving(situation, pod) || self.slots.length > 0);
  const hub = hubOf(nodes);
  if (hub === undefined) return [];
  return nodes
    .filter((node) => node !== hub && !areAcquainted(hub, node))
    .slice(0, mostMeetings)
    .map((node) => ({
      type: 'act',
      action: { type: 'redis.meet', node: member(hub), other: member(node) },
      summary: `have ${hub.pod} meet ${node.pod}`,
    }));
}

function areAcquainted(hub: ShardNode, node: ShardNode): boolean {
  return isLinked(hub, node) && node.view.some(({ id }) => id === hub.id);
}

/** Who reaches most. */
function hubOf(nodes: readonly ShardNode[]): ShardNode | undefined {
  const reach = (node: ShardNode): number => nodes.filter((other) => other !== node && isLinked(node, other)).length;
  const reached = nodes.map((node) => ({ node, count: reach(node) }));
  return reached.reduce<(typeof reached)[number] | undefined>(
    (best, one) => (best === undefined || one.count > best.count ? one : best),
    undefined,
  )?.node;
}
