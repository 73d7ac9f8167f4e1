/**
 * How a shard leaves: first its slots, then every node that stays forgets it, and only then its pods go. Nodes that stay and were not told
 * would tell the others of it again after a minute. Pure.
 */
import type { Member, ShardAction } from '../../action.ts';
import type { ClusterNode } from '../../client/cluster-nodes.ts';
import { countSlots } from '../../kind/slots.ts';
import type { SlotHolder } from '../../observe/shards/slot-holder.ts';

/** A node that stays, with all that it knows. */
export interface Witness {
  readonly node: Member;
  readonly nodes: readonly ClusterNode[];
}

export type LeavingStep =
  | { readonly does: 'forget'; readonly actions: readonly Extract<ShardAction, { type: 'redis.forgetNode' }>[] }
  /** Its pods may go: nobody knows it any more. */
  | { readonly does: 'remove' }
  | { readonly does: 'await'; readonly message: string };

export interface Leaving {
  /** The primaries of the shards that leave. */
  readonly holders: readonly SlotHolder[];
  /** All nodes of those shards, replicas too. */
  readonly members: readonly { readonly id: string; readonly pod: string }[];
  readonly witnesses: readonly Witness[];
  /** Pods that stay and do not answer. */
  readonly silent: readonly string[];
}

export function nextLeavingStep({ holders, members, witnesses, silent }: Leaving): LeavingStep {
  const ids = members.map(({ id }) => id);
  const bound = holders.find(({ slots, keys, migrating, importing }) => {
    return countSlots(slots) + keys + migrating.length + importing.length > 0;
  });
  if (bound !== undefined) {
    const { primary, slots, keys } = bound;
    return { does: 'await', message: `${primary.pod} still has ${countSlots(slots)} slots and ${keys} keys` };
  }
  const claimed = witnesses.find(({ nodes }) => nodes.some(({ id, slots }) => ids.includes(id) && slots.length > 0));
  if (claimed !== undefined) {
    return { does: 'await', message: `${claimed.node.pod} has yet to hear who has the slots` };
  }
  const knowing = witnesses.filter(({ nodes }) => nodes.some(({ id }) => ids.includes(id)));
  if (knowing.length === 0 && silent.length === 0) return { does: 'remove' };
  if (silent.length > 0) {
    return { does: 'await', message: `${silent.join(', ')} must answer, to be told which nodes have left` };
  }
  // All of them in one plan: whoever has learned of one again is told again, and it ends where nobody is left to tell.
  const nodes = witnesses.map(({ node }) => node);
  return { does: 'forget', actions: members.map(({ id, pod }) => ({ type: 'redis.forgetNode', id, pod, nodes })) };
}
