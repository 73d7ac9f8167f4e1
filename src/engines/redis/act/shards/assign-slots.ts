/** Gives slots to a node of a new Redis Cluster, which is blank or has what a restore has put there. */
import type { Member, ShardAction } from '../../action.ts';
import { clusterNodes, myselfIn } from '../../client/cluster-nodes.ts';
import type { RedisConnection } from '../../client/connection.ts';
import { straysOf } from '../../client/stray-keys.ts';
import { areSameSlots, differenceOf, type SlotSet, slotArguments } from '../../kind/slots.ts';

/** The server takes an epoch only while it knows nobody and has none, which a first try may have given it. */
export async function assignSlots(
  connection: RedisConnection,
  { node, slots, epoch, restoredKeys }: Extract<ShardAction, { type: 'redis.assignSlots' }>,
): Promise<void> {
  const [nodes, keys] = await Promise.all([connection.command('CLUSTER', 'NODES'), connection.command('DBSIZE')]);
  const view = clusterNodes(nodes);
  const self = myselfIn(view);
  if (areSameSlots(self.slots, slots)) return;
  const isAlone = view.length === 1 && self.role === 'primary' && (self.epoch === 0 || self.epoch === epoch);
  const isBlank = restoredKeys === undefined && self.slots.length === 0 && keys === 0;
  // With a slot that is not on the list, another shard has keys of the same.
  const isRestored = restoredKeys !== undefined && differenceOf(self.slots, slots).length === 0;
  if (!isAlone || !(isBlank || isRestored)) throw new Error(`${node.pod} is not blank any more`);
  if (restoredKeys !== undefined) await requireRestored(connection, node, { slots, isEmpty: keys === 0, restoredKeys });
  if (self.epoch === 0) await connection.command('CLUSTER', 'SET-CONFIG-EPOCH', String(epoch));
  const missing = differenceOf(slots, self.slots);
  await connection.command('CLUSTER', 'ADDSLOTSRANGE', ...slotArguments(missing));
}

async function requireRestored(
  connection: RedisConnection,
  { pod }: Member,
  wanted: { readonly slots: SlotSet; readonly isEmpty: boolean; readonly restoredKeys: number },
): Promise<void> {
  if (wanted.isEmpty && wanted.restoredKeys > 0) throw new Error(`${pod} has none of the keys that were put there`);
  const [stray] = await straysOf(connection, wanted.slots);
  if (stray !== undefined) throw new Error(`${pod} has keys of slot ${stray.slot}, which it is not to get`);
}
