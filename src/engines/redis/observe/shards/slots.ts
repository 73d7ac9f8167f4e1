/** Asks the primary of each shard what it has of slots and keys. Reads only. */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { credentialsOf, type OpenSession, sessionsWith } from '../../client/session.ts';
import { dataPort } from '../../names.ts';
import type { HeldSlots, ShardNode } from './observed.ts';
import type { ShardsSituation } from './situation.ts';
import { slotHolder } from './slot-holder.ts';

/** Of one answer. A server under load takes its time for a script. */
const answerMs = 4_000;
const longestAnswer = 2 ** 20;

export async function observeSlots(
  { cluster, shards }: Pick<ShardsSituation, 'cluster' | 'shards'>,
  io: EngineContext,
): Promise<readonly HeldSlots[]> {
  const open = sessionsWith(io, await credentialsOf(cluster, io), { answerMs, bytes: longestAnswer });
  try {
    return await Promise.all(
      shards.flatMap(({ set, primary, nodes }) =>
        nodes
          .filter((node) => node === primary || (node.self.role === 'primary' && node.self.slots.length > 0))
          .map((node) => heldBy(open, node === primary ? set : besides(set, node), node)),
      ),
    );
  } finally {
    open.closeAll();
  }
}

/** A second primary of a shard, of a failover in the middle of a move. It is wanted by nobody, and its slots go to the others. */
const besides = (set: string, { pod }: ShardNode): string => `${set} (${pod})`;

/** Whoever does not tell holds up every move. */
async function heldBy(open: OpenSession, shard: string, { pod, address, id }: ShardNode): Promise<HeldSlots> {
  try {
    const held = await slotHolder(await open(address, dataPort), shard, { pod, address });
    if (held.primary.id !== id) throw new Error('it is another node by now');
    return held;
  } catch (error) {
    return { shard, unknown: `${pod}: ${(error as Error).message}` };
  }
}
