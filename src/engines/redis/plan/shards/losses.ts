/**
 * Slots that nobody serves. Redis Cluster elects a replica by itself, where a majority of the primaries answers; nobody else chooses. Slots whose
 * every copy is gone are given to no other node: their keys are lost, and a person has to know.
 */
import { blocked, type Outcome, wait } from '../../../../plan/plan.ts';
import {
  countSlots,
  intersectionOf,
  type SlotSet,
  slotArguments,
  slotsOf,
  slotText,
  unionOf,
} from '../../kind/slots.ts';
import { isSurplus } from '../../observe/shards/distribution.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';
import { type AbsentNode, absentNodes, knownIn, unownedSlots } from '../../observe/shards/views.ts';
import { hasOnlyCopy, isOpenTo } from './membership.ts';

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
    const heir = heirOf(situation, lost);
    const { message, ms } =
      heir === undefined
        ? { message: 'what to do is said here once the new nodes of the shard have met the others', ms: recheckMs }
        : { message: remedy(lost.slots, heir), ms: lostMs };
    return blocked(
      'DataLost',
      `slots ${slotText(lost.slots)} were served by ${lost.pod}, whose volume is gone, and no node has a copy: their keys are lost, and nobody gives these slots to another node; ${message}`,
      ms,
    );
  }
  const moved = lostOnTheWay(situation);
  if (moved !== undefined) return blocked('DataLost', moved, lostMs);
  const orphan = orphanIn(situation);
  if (orphan !== undefined) {
    return blocked(
      'ShardDown',
      `${orphan.pod} has keys that moved to its shard before the shard had a slot, and its primary is gone: make it primary by CLUSTER FAILOVER TAKEOVER as the identity of the cluster`,
      lostMs,
    );
  }
  const held = bereftIn(situation);
  if (held !== undefined) return wait('ShardDown', held, recheckMs);
  const [down] = owners;
  if (down !== undefined) return wait('ShardDown', shardDown(situation, down), recheckMs);
  const unowned = unownedSlots(nodes);
  if (countSlots(unowned) === 0) return undefined;
  const which = `no node knows who serves slots ${slotText(unowned)}`;
  if (!areAllThere) return wait('ShardDown', `${which}, and not every node answers`, recheckMs);
  return blocked(
    'DataLost',
    `${which}: their keys are lost, and nobody gives these slots to another node; ${remedy(unowned, shards.find(({ primary }) => primary !== undefined)?.primary)}`,
    lostMs,
  );
}

/**
 * The newer epoch comes first: with an older one than that of the owner that is gone, the others tell the node that it has these slots no more. Redis makes it
 * a replica of the one that is gone then.
 */
function remedy(slots: SlotSet, heir: ShardNode | undefined): string {
  const told = heir === undefined ? [] : intersectionOf(slots, ownedIn(heir));
  const commands = [
    'CLUSTER BUMPEPOCH',
    // It takes no slot that it knows an owner of.
    ...(told.length === 0 ? [] : [`CLUSTER DELSLOTSRANGE ${slotArguments(told).join(' ')}`]),
    `CLUSTER ADDSLOTSRANGE ${slotArguments(slots).join(' ')}`,
  ];
  return `put the volume back, or, to have them empty, run ${commands.join(', then ')}, on ${heir?.pod ?? 'a primary'} as the identity of the cluster`;
}

/**
 * A node of the shard that has lost its slots: most are new, and have not heard of the owner that is gone. It has met the others: otherwise the epoch that it
 * gives itself would be older than that of the owner.
 */
function heirOf({ shards, nodes }: ShardsSituation, { pod, slots }: AbsentNode): ShardNode | undefined {
  const newest = nodes.reduce((most, { view }) => view.reduce((one, { epoch }) => Math.max(one, epoch), most), 0);
  const own = shards.find(({ set }) => pod?.startsWith(`${set}-`))?.nodes ?? [];
  const able = own.filter(({ self, currentEpoch }) => self.role === 'primary' && currentEpoch >= newest);
  return able.find((node) => intersectionOf(slots, ownedIn(node)).length === 0) ?? able[0];
}

const ownedIn = (node: ShardNode): SlotSet => unionOf(...knownIn(node).map(({ slots }) => slots));

/** Keys of an open slot may have been at a node that is gone, and nobody in its shard has any. Nobody knows how many there were. */
function lostOnTheWay(situation: ShardsSituation): string | undefined {
  const { nodes, shards } = situation;
  for (const absent of absentNodes(situation)) {
    const senders = nodes.filter(({ self }) => isOpenTo(self, absent.id));
    const own = shards.find(({ set }) => absent.pod?.startsWith(`${set}-`))?.nodes ?? [];
    const isServed = own.some(({ empty, self }) => !empty || self.slots.length > 0);
    if (senders.length === 0 || isServed || !isLost(situation, absent)) continue;
    const open = senders.flatMap(({ pod, self }) =>
      self.migrating.flatMap(({ slot, to }) => (to === absent.id ? [{ pod, slot }] : [])),
    );
    const slots = slotText(slotsOf(open.map(({ slot }) => slot)));
    const commands = open.map(({ pod, slot }) => `CLUSTER SETSLOT ${slot} STABLE on ${pod}`).join(', ');
    return `slots ${slots} were moving to ${absent.pod}, whose volume is gone, and no node has a copy of what had moved, if anything had: it is lost; put the volume back, or, to go on without it, run as the identity of the cluster ${commands}`;
  }
  return undefined;
}

function orphanIn({ shards }: ShardsSituation): ShardNode | undefined {
  const orphans = shards.flatMap(({ primary, nodes }) =>
    nodes.filter((node) => primary !== undefined && hasOnlyCopy(node, primary)),
  );
  return fullestOf(orphans);
}

/**
 * A primary without slots whose process was killed does not start while a replica has keys: nobody is elected in its place, and only its log tells. See
 * `start-shard.sh`. A shard that is to go has words of its own.
 */
function bereftIn(situation: ShardsSituation): string | undefined {
  const { shards, nodes } = situation;
  const copies = shards
    .filter((shard) => shard.primary === undefined && !shard.isServing && !isSurplus(situation, shard))
    .flatMap((shard) => shard.nodes.filter(({ self, empty }) => self.role === 'replica' && !empty))
    .filter(({ self }) => !nodes.some(({ id }) => id === self.primaryId));
  const fullest = fullestOf(copies);
  if (fullest === undefined) return undefined;
  const { pod } = fullest;
  return `the primary of ${pod}, which has no slot, does not answer; if its log says that it may lack keys that have moved to it, or if it is lost for good, run CLUSTER FAILOVER TAKEOVER on ${pod} as the identity of the cluster: nobody is elected in the place of a primary without slots`;
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
  const isReplaced = nodes.some((node) => node.pod === pod);
  const whose = isReplaced ? `the former node of ${pod} (${id.slice(0, 8)})` : (pod ?? id);
  const first = `${whose}, which serves slots ${slotText(slots)}, does not answer`;
  const best = fullestOf(copies);
  if (best === undefined) return `${first}, and no replica of it does${isReplaced ? '' : ofItsVolume(whose)}`;
  const lost = best.empty
    ? `${best.pod} has no keys`
    : `what ${whose} has acknowledged, and ${best.pod} does not have, is lost`;
  const remedy = (how: 'FORCE' | 'TAKEOVER'): string =>
    `run CLUSTER FAILOVER ${how} on ${best.pod} as the identity of the cluster: ${lost}`;
  const serving = nodes.filter(({ self }) => self.role === 'primary' && self.slots.length > 0).length;
  const owners = new Set(nodes.flatMap(({ view }) => view.flatMap((one) => (one.slots.length > 0 ? [one.id] : []))))
    .size;
  if (serving * 2 <= owners) {
    return `${first}, and ${serving} of ${owners} primaries are no majority: no replica can be elected until more of them are back; if they are lost for good, ${remedy('TAKEOVER')}`;
  }
  const names = copies.map((node) => node.pod).join(', ');
  return `${first}; the primaries elect ${names}, unless it has been without its primary for too long (cluster-replica-validity-factor), or has yet to write down what it has copied; if nobody is elected within a minute, and ${whose} does not come back, ${remedy('FORCE')}`;
}

/** Its pod waits for a replica then, and tells nobody but its log: see `start-shard.sh`. */
function ofItsVolume(pod: string): string {
  return `; if the log of ${pod} says that its volume does not hold all that it has served, bring a replica back, or create /data/initialised in that pod to serve what there is`;
}

function fullestOf(copies: readonly ShardNode[]): ShardNode | undefined {
  return copies.reduce<ShardNode | undefined>(
    (best, node) => (best === undefined || isFuller(node, best) ? node : best),
    undefined,
  );
}

/** Offsets begin anew where a replica starts. */
function isFuller(one: ShardNode, other: ShardNode): boolean {
  if (one.empty !== other.empty) return !one.empty;
  return one.offset > other.offset;
}
