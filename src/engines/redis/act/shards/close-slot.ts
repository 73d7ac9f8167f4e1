/**
 * Ends the move of a slot of which no key has moved. First its owner stops sending clients away; whoever still comes to the other side could have made a
 * key there until then. Where there is one, the slot stays open there, and the next plan finishes its move.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { RedisAction } from '../../action.ts';
import { type Credentials, sessionsWith } from '../../client/session.ts';
import { hasSlot } from '../../kind/slots.ts';
import { keysIn } from '../../observe/shards/slot-holder.ts';
import { longestReply, setSlot, shardSession, viewOf } from './shard-session.ts';

export async function closeSlot(
  action: Extract<RedisAction, { type: 'redis.closeSlot' }>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const { slot } = action;
  const open = sessionsWith(io, credentials, { answerMs: 4_000, bytes: longestReply });
  try {
    const owner = await shardSession(open, action.owner);
    const others = await Promise.all(action.others.map((other) => shardSession(open, other)));
    const requireNoKeys = async (): Promise<void> => {
      const counts = await Promise.all(others.map((other) => keysIn(other, slot)));
      const full = others.find((_, i) => counts[i] !== 0);
      if (full !== undefined) throw new Error(`${full.primary.pod} has keys of slot ${slot}: its move is finished`);
    };
    const { myself } = await viewOf(owner);
    const views = await Promise.all(others.map(viewOf));
    if (!hasSlot(myself.slots, slot) || views.some((view) => hasSlot(view.myself.slots, slot))) {
      throw new Error(`slot ${slot} has another owner than ${action.owner.pod} meanwhile`);
    }
    await requireNoKeys();
    // A former target that was told to take the slot, and stood still or ended since, would take it with the next epoch that it knows of.
    await owner.command('CLUSTER', 'BUMPEPOCH');
    await setSlot(owner, slot, 'STABLE');
    await requireNoKeys();
    await Promise.all(others.map((other) => setSlot(other, slot, 'STABLE')));
  } finally {
    open.closeAll();
  }
}
