/** What a node of a Redis Cluster says of itself besides what every data node does. */
import type { ClusterNode } from '../../client/cluster-nodes.ts';
import type { DataNode, RedisObserved } from '../observed.ts';

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

export type ShardsObserved = RedisObserved<ShardNode>;
