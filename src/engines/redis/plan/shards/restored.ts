/**
 * Nodes of a new Redis Cluster whose volumes a restore has filled, one of each shard. Such a server has taken the slots of its keys by itself when it
 * started. It may be given the others of its shard: those that the agent has told, which are on the claim.
 */
import { restoredAnnotation } from '../../../../engine/backup-support.ts';
import { blocked, type Outcome } from '../../../../plan/plan.ts';
import type { Claim } from '../../../../resources/children.ts';
import {
  allSlots,
  areSameSlots,
  countSlots,
  differenceOf,
  parseSlots,
  type SlotSet,
  slotCount,
  slotText,
  unionOf,
} from '../../kind/slots.ts';
import { nodeAnnotation, restoredKeysAnnotation, slotsAnnotation } from '../../names.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import { claimOfNode, type ShardsSituation } from '../../observe/shards/situation.ts';

export interface RestoredShard {
  readonly slots: SlotSet;
  /** Keys that do not expire, as far as that is known. */
  readonly lastingKeys: number;
}

/** Undefined where no restore has filled it. */
export function restoredOn(claim: Claim | undefined): RestoredShard | undefined {
  const { annotations = {} } = claim?.metadata ?? {};
  if (annotations[restoredAnnotation] === undefined) return undefined;
  return {
    slots: parseSlots(annotations[slotsAnnotation] ?? '') ?? [],
    lastingKeys: Number(annotations[restoredKeysAnnotation] ?? 0) || 0,
  };
}

/** It knows nobody, and has no slot but those. */
export function isWithin({ self, view }: Pick<ShardNode, 'self' | 'view'>, slots: SlotSet): boolean {
  return self.role === 'primary' && view.length === 1 && differenceOf(self.slots, slots).length === 0;
}

/** Nobody has looked at it yet, and it knows nobody. */
export function isFreshlyRestored(situation: ShardsSituation, node: ShardNode): boolean {
  const claim = claimOfNode(situation, node);
  return restoredOn(claim) !== undefined && recordedOn(claim) === undefined && node.view.length === 1;
}

const recordedOn = (claim: Claim | undefined): string | undefined => claim?.metadata.annotations?.[nodeAnnotation];

/** Why no cluster is formed of volumes that a restore has filled; undefined where one may be, or where none has. All nodes answer. */
export function restoreProblem(situation: ShardsSituation): Outcome | undefined {
  const { shards, children, cluster } = situation;
  const folders = new Set(children.claims.flatMap(({ metadata }) => metadata.annotations?.[restoredAnnotation] ?? []));
  if (folders.size === 0) return undefined;
  const problem =
    folders.size > 1
      ? 'they are of several backups'
      : (shardProblem(situation) ??
        slotProblem(shards.map((shard) => restoredIn(situation, shard.nodes)?.slots ?? [])));
  if (problem === undefined) return undefined;
  return blocked(
    'FormationInterrupted',
    `the volumes of this cluster were filled from a backup, and ${problem}: no cluster is formed of them; delete RedisCluster ${cluster.metadata.name} and its volumes, and create it again`,
  );
}

function restoredIn(situation: ShardsSituation, nodes: readonly ShardNode[]): RestoredShard | undefined {
  return nodes.map((node) => restoredOn(claimOfNode(situation, node))).find((restored) => restored !== undefined);
}

function shardProblem(situation: ShardsSituation): string | undefined {
  for (const { set, nodes } of situation.shards) {
    const [node] = nodes.filter((each) => restoredOn(claimOfNode(situation, each)) !== undefined);
    if (node === undefined) return `no volume of ${set} was`;
    const problem = nodeProblem(situation, node);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function nodeProblem(situation: ShardsSituation, node: ShardNode): string | undefined {
  const claim = claimOfNode(situation, node);
  const { slots, lastingKeys } = restoredOn(claim) ?? { slots: [], lastingKeys: 0 };
  const recorded = recordedOn(claim);
  if (recorded !== undefined) return recorded === node.id ? undefined : `${node.pod} is another node than it was`;
  if (node.empty && lastingKeys > 0) return `${node.pod} is empty, and ${lastingKeys} keys were put there`;
  const outside = differenceOf(node.self.slots, slots);
  if (outside.length > 0) return `${node.pod} has keys of slots ${slotText(outside)}, which its shard did not have`;
  return isWithin(node, slots) ? undefined : `${node.pod} is part of a Redis Cluster already`;
}

function slotProblem(sets: readonly SlotSet[]): string | undefined {
  const isOnce = sets.reduce((sum, set) => sum + countSlots(set), 0) === slotCount;
  return isOnce && areSameSlots(unionOf(...sets), allSlots) ? undefined : 'they do not have each slot once';
}
