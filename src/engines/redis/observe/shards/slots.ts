/** Asks the primary of each shard what it has of slots and keys. Reads only. */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { credentialsOf, type OpenSession, sessionsWith } from '../../client/session.ts';
import { dataPort } from '../../names.ts';
import type { HeldSlots } from './observed.ts';
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
      shards.flatMap(({ set, primary }) => (primary === undefined ? [] : [heldBy(open, set, primary)])),
    );
  } finally {
    open.closeAll();
  }
}

/** Whoever does not tell holds up every move. */
async function heldBy(
  open: OpenSession,
  shard: string,
  { pod, address }: { readonly pod: string; readonly address: string },
): Promise<HeldSlots> {
  try {
    return await slotHolder(await open(address, dataPort), shard, { pod, address });
  } catch (error) {
    return { shard, unknown: `${pod}: ${(error as Error).message}` };
  }
}
