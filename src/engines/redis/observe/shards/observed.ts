/** What a node of a Redis Cluster says of itself besides what every data node does. */
import type { ClusterNode } from '../../client/cluster-nodes.ts';
import type { DataNode, RedisObserved } from '../observed.ts';
import type { SlotHolder } from './slot-holder.ts';

export interface ShardNode extends DataNode {
  readonly id: string;
  /** Everybody that it knows, itself among them. */
  readonly view: readonly ClusterNode[];
  /** Itself, in that view. */
  readonly self: ClusterNode;
  /** `cluster_state:ok`: it takes commands. */
  readonly isClusterOk: boolean;
  /** The highest epoch that it has heard of. */
  readonly currentEpoch: number;
}

/** What could be learned of the slots of one shard; or why not. */
export type HeldSlots = SlotHolder | { readonly shard: string; readonly unknown: string };

export interface ShardsObserved extends RedisObserved<ShardNode> {
  /** Of each shard with a primary. Absent where nobody has asked: no slot is on its way, and none has to go. */
  readonly holders?: readonly HeldSlots[];
}
