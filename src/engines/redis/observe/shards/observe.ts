/** What the nodes of a Redis Cluster are asked. Reads only. */
import type { Cluster } from '../../../../api/cluster.ts';
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { Children } from '../../../../resources/children.ts';
import { clusterNodes, longestViewBytes, myselfIn } from '../../client/cluster-nodes.ts';
import type { RedisConnection } from '../../client/connection.ts';
import { infoFields } from '../../client/reply-fields.ts';
import type { RedisSpec } from '../../kind/schema.ts';
import { settingsToHold } from '../../resources/settings.ts';
import { askDataNode } from '../observe.ts';
import { observeProcesses, type Place, type Told, type Unready } from '../processes.ts';
import { mayBeMoving } from './distribution.ts';
import type { ShardNode, ShardsObserved } from './observed.ts';
import { shardsSituation } from './situation.ts';
import { observeSlots } from './slots.ts';

export async function observeShards(
  cluster: Cluster<RedisSpec>,
  children: Children,
  io: EngineContext,
): Promise<ShardsObserved> {
  const observed = await observeNodes(cluster, children, io);
  const situation = shardsSituation(cluster, children, observed);
  return mayBeMoving(situation) ? { ...observed, holders: await observeSlots(situation, io) } : observed;
}

function observeNodes(cluster: Cluster<RedisSpec>, children: Children, io: EngineContext): Promise<ShardsObserved> {
  const directives = Object.keys(settingsToHold(cluster));
  return observeProcesses<ShardNode>(cluster, children, io, {
    data: (connection, at, told) => askShardNode(connection, at, told, directives),
    sentinel: () => Promise.reject(new Error('a Redis Cluster has no sentinels')),
    longest: longestViewBytes,
  });
}

async function askShardNode(
  connection: RedisConnection,
  at: Place,
  told: Told,
  directives: readonly string[],
): Promise<ShardNode | Unready> {
  const [node, nodes, info] = await Promise.all([
    askDataNode(connection, at, told, directives),
    connection.command('CLUSTER', 'NODES'),
    connection.command('CLUSTER', 'INFO'),
  ]);
  if (node.state === 'silent') return node;
  const view = clusterNodes(nodes);
  const self = myselfIn(view);
  const fields = infoFields(String(info));
  return {
    ...node,
    id: self.id,
    view,
    self,
    isClusterOk: fields.cluster_state === 'ok',
    currentEpoch: Number(fields.cluster_current_epoch ?? 0),
  };
}
