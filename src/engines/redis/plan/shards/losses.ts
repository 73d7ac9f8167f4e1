/**
 * Slots that nobody serves. Redis Cluster elects a replica by itself, where a majority of the primaries answers; nobody else chooses. Slots whose
 * every copy is gone are given to no other node: their keys are lost, and a person has to know.
 */
import { blocked, type Outcome, wait } from '../../../../plan/plan.ts';
import { countSlots, slotText } from '../../kind/slots.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';
import { type AbsentNode, absentNodes, unownedSlots } from '../../observe/shards/views.ts';
import { hasOnlyCopy } from './membership.ts';

const recheckMs = 1_000;
/** A volume that somebody puts back, or slots that somebody gives away by hand. */
const lostMs = 30_000;

/** Of a cluster that has been formed. */
export function lossOutcome(situation: ShardsSituation): Outcome | undefined {
  const { nodes, shards, observed } = situation;
  const owners = absentNodes(situation).filter(({ slots }) => slots.length > 0);
  const areAllThere = nodes.length === observed.data.length && shards.every(({ pods, size }) => pods.length >= size);
  if (nodes.length === 0) return wait('NodesSilent', 'no node answers', recheckMs);
  const [lost] = owners.filter((owner) => isLost(situation, owner));
  if (lost !== undefined) {
    return blocked(
      'DataLost',
      `slots ${slotText(lost.slots)} were served by ${lost.pod}, whose volume is gone, and no node has a copy: their keys are lost, and nobody gives these slots to another node; ${remedy}`,
      lostMs,
    );
  }
  const orphan = orphanIn(situation);
  if (orphan !== undefined) {
    return blocked(
      'ShardDown',
      `${orphan.pod} alone has keys that moved to its shard before the shard had a slot, and its primary is gone: make it primary by CLUSTER FAILOVER TAKEOVER as the identity of the cluster`,
      lostMs,
    );
  }
  const [down] = owners;
  if (down !== undefined) return wait('ShardDown', shardDown(situation, down), recheckMs);
  const unowned = unownedSlots(nodes);
  if (countSlots(unowned) === 0) return undefined;
  const which = `no node knows who serves slots ${slotText(unowned)}`;
  if (!areAllThere) return wait('ShardDown', `${which}, and not every node answers`, recheckMs);
  return blocked(
    'DataLost',
    `${which}: their keys are lost, and nobody gives these slots to another node; ${remedy}`,
    lostMs,
  );
}

const remedy =
  'put the volume back, or give them to a primary by CLUSTER ADDSLOTSRANGE as the identity of the cluster, and accept that they are empty';

function orphanIn({ shards }: ShardsSituation): ShardNode | undefined {
  return shards
    .flatMap(({ primary, nodes }) => nodes.filter((node) => primary !== undefined && hasOnlyCopy(node, primary)))
    .at(0);
}

/** Its pod has another node by now, and every node of its shard is there and has no copy. */
function isLost({ nodes, shards }: ShardsSituation, { id, pod }: AbsentNode): boolean {
  const shard = shards.find(({ set }) => pod?.startsWith(`${set}-`));
  const isReplaced = nodes.some((node) => node.pod === pod && node.id !== id);
  if (shard === undefined || !isReplaced) return false;
  const areAllThere = shard.pods.length >= shard.size && shard.nodes.length === shard.pods.length;
  return areAllThere && !nodes.some(({ self }) => self.primaryId === id);
}

function shardDown({ nodes }: ShardsSituation, { id, pod, slots }: AbsentNode): string {
  const copies = nodes.filter(({ self }) => self.primaryId === id);
  const first = `${pod ?? id}, which serves slots ${slotText(slots)}, does not answer`;
  if (copies.length === 0) return `${first}, and no replica of it does`;
  const serving = nodes.filter(({ self }) => self.role === 'primary' && self.slots.length > 0).length;
  const owners = new Set(nodes.flatMap(({ view }) => view.flatMap((one) => (one.slots.length > 0 ? [one.id] : []))))
    .size;
  if (serving * 2 <= owners) {
    return `${first}, and ${serving} of ${owners} primaries are no majority: no replica can be elected until more of them are back`;
  }
  const names = copies.map((node) => node.pod).join(', ');
  return `${first}; the primaries elect ${names}, unless it has been without its primary for too long (cluster-replica-validity-factor)`;
}
