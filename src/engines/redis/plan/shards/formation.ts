/**
 * A new Redis Cluster. First the claims say which node each volume has, and which slots each primary gets; then each primary gets these while it
 * knows nobody; then the nodes meet. Whatever is interrupted goes on from there: nothing is given to a node but what its claim says, and only
 * while it is as blank as a node can be, or has what a restore has put there. Once all slots have owners, all claims say so, and slots are never given away again.
 */
import { blocked, type Plan, type Step, wait } from '../../../../plan/plan.ts';
import type { Pod } from '../../../../resources/children.ts';
import type { RedisAction } from '../../action.ts';
import { firstSlotsOf, shardsOf } from '../../kind/shards.ts';
import { areSameSlots, type SlotSet, slotText } from '../../kind/slots.ts';
import { formedAnnotation, nodeAnnotation, slotsAnnotation } from '../../names.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import { claimOfNode, type ShardsSituation, wantedPods } from '../../observe/shards/situation.ts';
import { areAllServed, doViewsAgree, isBlank } from '../../observe/shards/views.ts';
import { claimOf } from '../../observe/situation.ts';
import { annotationSteps } from '../annotations.ts';
import { planMeetings } from './meetings.ts';
import { spreadPrimaries } from './placement.ts';
import { isWithin, type RestoredShard, restoredOn, restoreProblem } from './restored.ts';
import { strangersOutcome } from './strangers.ts';
import { member } from './target.ts';

type ShardsPlan = Plan<RedisAction>;

const recheckMs = 500;

interface Intended {
  readonly node: ShardNode;
  readonly shard: number;
  readonly slots: SlotSet;
  /** Where a restore has filled its volume. */
  readonly restored?: RestoredShard;
}

/** Until the claims say that it is formed. */
export function planFormation(situation: ShardsSituation): ShardsPlan {
  const { spec, shards, cluster } = situation;
  const wanted = wantedPods(situation);
  const staying = situation.nodes.filter(({ pod }) => wanted.includes(pod));
  const forming = (steps: readonly Step<RedisAction>[], message: string): ShardsPlan => ({
    steps,
    outcome: wait('Forming', message, recheckMs),
  });
  const stranger = strangersOutcome(situation);
  if (stranger !== undefined) return { steps: [], outcome: stranger };
  if (shards.length !== shardsOf(spec)) {
    const message = `there are StatefulSets of ${shards.length} shards, and none of them has been formed: set shards to ${shards.length}, or delete those that are too many`;
    return { steps: [], outcome: blocked('FormationInterrupted', message) };
  }
  if (staying.length < wanted.length) return forming([], `${staying.length} of ${wanted.length} nodes answer`);
  if (staying.some((node) => claimOfNode(situation, node) === undefined))
    return forming([], 'the volumes are being made');
  const [absent] = absentPrimaries(situation);
  if (absent !== undefined) {
    const message = `${absent} may have got slots, and does not answer: raise replicasPerShard again, or delete its pod and its PersistentVolumeClaim if it is lost`;
    return forming([], message);
  }

  const refusal = restoreProblem(situation);
  if (refusal !== undefined) return { steps: [], outcome: refusal };

  const told = situation.nodes.flatMap((node) => intentOf(situation, node) ?? []);
  const isBegun = situation.nodes.some((node) => !isBlank(node));
  // Who is to go, and has been given slots already, keeps them until the cluster is formed. Then it hands over.
  const recorded = isBegun && isWhole(told, shards.length) ? told : told.filter(({ node }) => staying.includes(node));
  if (!isWhole(recorded, shards.length) || recorded.some(({ node }) => !isRecorded(situation, node))) {
    return recordIntent(situation, staying, forming);
  }
  const nodes = [...staying, ...recorded.map(({ node }) => node).filter((node) => !staying.includes(node))];
  const unassigned = recorded.filter(({ node, slots }) => !areSameSlots(node.self.slots, slots));
  const spoilt = unassigned.find(({ node, slots, restored }) =>
    restored === undefined ? !isBlank(node) : !isWithin(node, slots),
  );
  if (spoilt !== undefined) {
    const { pod } = spoilt.node;
    const message = `${pod} was to get slots ${slotText(spoilt.slots)}, and is not blank: nobody gives them to it; delete RedisCluster ${cluster.metadata.name} and its volumes, and create it again`;
    return { steps: [], outcome: blocked('FormationInterrupted', message) };
  }
  if (unassigned.length > 0) {
    return forming(
      unassigned.map(({ node, shard, slots, restored }) => ({
        type: 'act',
        action: {
          type: 'redis.assignSlots',
          node: member(node),
          slots,
          epoch: shard + 1,
          ...(restored === undefined ? {} : { restoredKeys: restored.lastingKeys }),
        },
        summary: `give slots ${slotText(slots)} to ${node.pod}`,
      })),
      'the slots are given to the primaries',
    );
  }
  const meetings = planMeetings(situation);
  if (meetings.length > 0) return forming(meetings, 'the nodes meet');
  if (!areAllServed(nodes) || !doViewsAgree(nodes)) return forming([], 'the nodes have yet to agree on the slots');
  const marks = nodes.flatMap((node) => annotationSteps(claimOfNode(situation, node), { [formedAnnotation]: 'true' }));
  return forming(marks, 'the volumes are marked as those of a formed cluster');
}

/** What the claim says: what its shard had in a backup, or the share of one shard among as many as there are now. */
function intentOf(situation: ShardsSituation, node: ShardNode): Intended | undefined {
  const { shards } = situation;
  const claim = claimOfNode(situation, node);
  const index = shards.find(({ nodes }) => nodes.includes(node))?.index;
  if (index === undefined) return undefined;
  const restored = restoredOn(claim);
  if (restored !== undefined) return { node, shard: index, slots: restored.slots, restored };
  const slots = firstSlotsOf(index, shards.length);
  return claim?.metadata.annotations?.[slotsAnnotation] === slotText(slots) ? { node, shard: index, slots } : undefined;
}

/** Pods that the claims name for slots, and that do not answer. Those that stay are there by now. */
function absentPrimaries({ children, dataPods, nodes }: ShardsSituation): string[] {
  return dataPods
    .map(({ metadata }) => metadata.name)
    .filter((pod) => claimOf(children, pod)?.metadata.annotations?.[slotsAnnotation] !== undefined)
    .filter((pod) => !nodes.some((node) => node.pod === pod));
}

/** One node for each shard. */
function isWhole(recorded: readonly Intended[], shards: number): boolean {
  return recorded.length === shards && new Set(recorded.map(({ shard }) => shard)).size === shards;
}

function isRecorded(situation: ShardsSituation, node: ShardNode): boolean {
  return claimOfNode(situation, node)?.metadata.annotations?.[nodeAnnotation] === node.id;
}

/** Nobody has been given anything, so what was recorded before, and is not whole, is recorded anew. */
function recordIntent(
  situation: ShardsSituation,
  staying: readonly ShardNode[],
  forming: (steps: readonly Step<RedisAction>[], message: string) => ShardsPlan,
): ShardsPlan {
  const { nodes, shards } = situation;
  const isRestored = (node: ShardNode): boolean => restoredOn(claimOfNode(situation, node)) !== undefined;
  const used = nodes.find((node) => !isBlank(node) && !isRestored(node));
  if (used !== undefined) {
    const message = `the volume of ${used.pod} holds data or the memory of a Redis Cluster, and the claims do not say of which: no cluster is made over it; delete the volumes, or put the annotations of the claims back`;
    return { steps: [], outcome: blocked('VolumesInUse', message) };
  }
  if (nodes.some(isRestored)) {
    const ids = staying.flatMap((node) => annotationSteps(claimOfNode(situation, node), { [nodeAnnotation]: node.id }));
    return forming(ids, 'the claims record which node has which data');
  }
  const isStaying = (pod: string): boolean => staying.some((node) => node.pod === pod);
  const primaries = spreadPrimaries(shards.map(({ pods }) => pods.filter(({ metadata }) => isStaying(metadata.name))));
  const slotsFor = (pod: string): string | null => {
    const shard = primaries.findIndex((primary: Pod) => primary.metadata.name === pod);
    return shard < 0 ? null : slotText(firstSlotsOf(shard, shards.length));
  };
  const steps = nodes.flatMap((node) =>
    annotationSteps(claimOfNode(situation, node), {
      ...(isStaying(node.pod) ? { [nodeAnnotation]: node.id } : {}),
      [slotsAnnotation]: slotsFor(node.pod),
    }),
  );
  return forming(steps, 'the claims record which node gets which slots');
}
