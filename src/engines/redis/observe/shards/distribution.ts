/** Whether the slots are where the spec wants them, by what the nodes say of themselves: the same numbers that a move begins from. */
import { shardsOf } from '../../kind/shards.ts';
import { countSlots, slotCount } from '../../kind/slots.ts';
import type { Shard, ShardsSituation } from './situation.ts';
import { absentNodes, openSlots } from './views.ts';

/** It has more numbers than the spec wants shards. */
export function isSurplus({ spec }: Pick<ShardsSituation, 'spec'>, { index }: Pick<Shard, 'index'>): boolean {
  return index >= shardsOf(spec);
}

/** Its pods have never answered, as far as anybody knows: it has neither slots nor keys, and nobody to ask. */
export function hasNeverCome(situation: ShardsSituation, { set, nodes, isServing }: Shard): boolean {
  return !isServing && nodes.length === 0 && !absentNodes(situation).some(({ pod }) => pod?.startsWith(`${set}-`));
}

/** Shards that the spec wants have equal shares, give or take one slot, and others have none. */
export function isEven({ spec, shards }: Pick<ShardsSituation, 'spec' | 'shards'>): boolean {
  const least = Math.floor(slotCount / shardsOf(spec));
  return shards.every((shard) => {
    const count = countSlots(shard.primary?.self.slots ?? []);
    return isSurplus({ spec }, shard) ? count === 0 : count === least || count === least + 1;
  });
}

/**
 * Whether the primaries are asked for slots and keys, which costs each a script of some milliseconds. What is half moved shows in keys alone after
 * failovers, so they are asked until the cluster is Ready again.
 */
export function mayBeMoving(situation: ShardsSituation): boolean {
  const { isFormed, cluster, shards, nodes } = situation;
  if (!isFormed || nodes.length === 0) return false;
  const isOpen = nodes.some(({ self }) => openSlots(self).length > 0);
  return (
    isOpen ||
    cluster.status?.phase !== 'Ready' ||
    shards.some((shard) => isSurplus(situation, shard)) ||
    !isEven(situation)
  );
}
