/** Asks the primary of each shard what it has of slots and keys. Reads only. */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { credentialsOf, type OpenSession, sessionsWith } from '../../client/session.ts';
import { dataPort } from '../../names.ts';
import type { HeldSlots, ShardNode } from './observed.ts';
import type { ShardsSituation } from './situation.ts';
import { type SlotHolder, slotHolder } from './slot-holder.ts';
import { openSlots } from './views.ts';

/** Of one answer. A server under load takes its time for a script. */
const answerMs = 4_000;
/** A hundred names of keys of a slot, which may be long. */
const longestAnswer = 2 ** 25;

export async function observeSlots(
  { cluster, shards }: Pick<ShardsSituation, 'cluster' | 'shards'>,
  io: EngineContext,
): Promise<readonly HeldSlots[]> {
  const open = sessionsWith(io, await credentialsOf(cluster, io), { answerMs, bytes: longestAnswer });
  try {
    return await Promise.all(
      shards.flatMap(({ set, primary, nodes }) =>
        nodes
          .filter((node) => node === primary || holdsSomething(node))
          .map((node) => heldBy(open, node === primary ? { shard: set } : besides(set, node), node)),
      ),
    );
  } finally {
    open.closeAll();
  }
}

/** A replica was elected in its place in the middle of a move. It has to give away what it has before it can follow. */
export function holdsSomething({ self, empty }: Pick<ShardNode, 'self' | 'empty'>): boolean {
  return self.role === 'primary' && (self.slots.length > 0 || openSlots(self).length > 0 || !empty);
}

/** A second primary of a shard. It is wanted by nobody, and its slots go to the others. */
const besides = (set: string, { pod }: ShardNode): Held => ({ shard: `${set} (${pod})`, isSecond: true });

type Held = Pick<SlotHolder, 'shard' | 'isSecond'>;

/** Whoever does not tell holds up every move. */
async function heldBy(open: OpenSession, whose: Held, { pod, address, id, version }: ShardNode): Promise<HeldSlots> {
  const { shard } = whose;
  try {
    const held = await slotHolder(await open(address, dataPort), shard, { pod, address });
    if (held.primary.id !== id) throw new Error('it is another node by now');
    return { ...held, ...whose, version };
  } catch (error) {
    return { shard, unknown: `${pod}: ${(error as Error).message}` };
  }
}
