/** Nodes that are not yet what they should be in their shard, and nodes that are gone. Nothing here interrupts anybody. */
import type { ActStep, ObjectStep } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import { formedAnnotation, nodeAnnotation } from '../../names.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import { claimOfNode, isLeaving, isToGo, type ShardsSituation } from '../../observe/shards/situation.ts';
import { type AbsentNode, absentNodes, isBlank, isLinked, knownIn } from '../../observe/shards/views.ts';
import { annotationSteps } from '../annotations.ts';
import { member } from './target.ts';

type Act = ActStep<RedisAction>;

/**
 * The claim of each volume says which node is on it, before that node is met. A volume that was lost comes back with another node, which is
 * blank: then the claim names that.
 */
export function planRecord(situation: ShardsSituation): ObjectStep[] {
  const { nodes } = situation;
  return nodes.flatMap((node) => {
    if (isLeaving(situation, node.pod)) return [];
    const isMember = nodes.some((one) => one !== node && knownIn(one).some(({ id }) => id === node.id));
    if (!isBlank(node) && !isMember) return [];
    return annotationSteps(claimOfNode(situation, node), { [nodeAnnotation]: node.id, [formedAnnotation]: 'true' });
  });
}

/** It has no slots and no keys, its shard has a primary, and the two know each other: it becomes a replica. Never by losing anything. */
export function planReplicas(situation: ShardsSituation): Act[] {
  const { shards } = situation;
  return shards.flatMap(({ primary, nodes }) =>
    primary === undefined
      ? []
      : nodes.flatMap((node): Act[] => {
          if (node === primary || isLeaving(situation, node.pod)) return [];
          const { self, empty } = node;
          if (self.primaryId === primary.id && !isMisled(node, primary)) return [];
          const isFree = self.slots.length === 0 && (self.role === 'replica' || empty);
          if (!isFree || hasOnlyCopy(node, primary)) return [];
          // What it knows has to include its primary, which it is told by its id.
          if (!isLinked(node, primary) || self.importing.length > 0) return [];
          return [
            {
              type: 'act',
              action: { type: 'redis.replicate', node: member(node), primary: member(primary) },
              summary: `make ${node.pod} a replica of ${primary.pod}`,
            },
          ];
        }),
  );
}

/**
 * Keys move to a shard before its first slot does. Should its primary be lost then, nobody is elected, and its replica alone has them: it would lose
 * them by copying from a primary that has nothing. A primary that has keys has been made primary by a person.
 */
export function hasOnlyCopy({ self, empty }: ShardNode, primary: ShardNode): boolean {
  const isBare = primary.empty && primary.self.slots.length === 0;
  return isBare && !empty && self.role === 'replica' && self.primaryId !== primary.id;
}

/**
 * A node that hears of another address of its primary from a third one corrects what it knows of the cluster, and goes on copying from the
 * address of before. It is told its primary again.
 */
function isMisled({ linkUp, follows }: ShardNode, primary: ShardNode): boolean {
  return !linkUp && follows !== primary.address;
}

/**
 * A node is gone for good where its own pod answers as another one, or has been scaled away. It is forgotten by all at once: who still knows it
 * would tell the others of it again after a minute. Not while it has slots or anybody copies from it.
 */
export function planForgetting(situation: ShardsSituation): Act[] {
  const { nodes, observed } = situation;
  // Who does not answer cannot be told. One that is to go is not waited for: its machine may be lost, and what it would tell later is forgotten again.
  const isHeard = (pod: string): boolean => nodes.some((node) => node.pod === pod);
  if (observed.data.some(({ pod }) => !isHeard(pod) && !isToGo(situation, pod))) return [];
  return absentNodes(situation)
    .filter((absent) => isGone(situation, absent))
    .map(({ id, pod = '' }) => ({
      type: 'act',
      action: { type: 'redis.forgetNode', id, pod, nodes: nodes.map(member) },
      summary: `have all nodes forget ${id.slice(0, 8)}, which was ${pod}`,
    }));
}

export function isGone(situation: ShardsSituation, absent: AbsentNode): boolean {
  const { nodes, dataPods, shards } = situation;
  const { id, pod, slots, isUnlinked } = absent;
  if (pod === undefined || slots.length > 0 || !isUnlinked) return false;
  // A primary that forgets the target of a slot closes the slot: keys that have moved read as missing then.
  if (nodes.some(({ self }) => self.primaryId === id || isOpenTo(self, id))) return false;
  const isReplaced = nodes.some((node) => node.pod === pod && node.id !== id);
  const isInPlace = shards.some(
    ({ set, size }) => pod.startsWith(`${set}-`) && Number(pod.slice(set.length + 1)) < size,
  );
  const isScaledAway = !isInPlace && !dataPods.some(({ metadata }) => metadata.name === pod);
  const isGoing = isLeaving(situation, pod) && !nodes.some((node) => node.pod === pod);
  return isReplaced || isScaledAway || (isGoing && !mayHaveKeys(situation, absent));
}

/** A replica has no slot to give away, whatever it says of it. */
export function isOpenTo({ role, migrating }: ShardNode['self'], id: string): boolean {
  return role === 'primary' && migrating.some(({ to }) => to === id);
}

/**
 * Keys that nobody else has. A replica has none while the primary of its shard answers; nor has whoever was primary before one that serves slots. But keys move to a
 * shard before its first slot does.
 */
export function mayHaveKeys({ shards }: ShardsSituation, { pod, isReplica }: AbsentNode): boolean {
  const primary = shards.find(({ set }) => pod?.startsWith(`${set}-`))?.primary;
  return primary === undefined || (!isReplica && primary.self.slots.length === 0);
}
