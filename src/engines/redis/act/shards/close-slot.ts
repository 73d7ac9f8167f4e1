/**
 * Ends the move of a slot of which no key has moved. The other side first: once the slot is not open there, nobody makes a key there, and if it was told to take the slot, stood
 * still, and does so now, it gets no newer epoch for it. Then its owner stops sending clients away. A key that was made on the other side meanwhile has the slot opened there
 * again, and the next plan finishes its move.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { RedisAction } from '../../action.ts';
import { type Credentials, sessionsWith } from '../../client/session.ts';
import { hasSlot } from '../../kind/slots.ts';
import { keysIn } from '../../observe/shards/slot-holder.ts';
import { takeNewestEpoch } from './newest-epoch.ts';
import { longestReply, reachedOf, setSlot, shardSession, viewOf } from './shard-session.ts';

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
    const [voters, followers, otherReplicas] = await Promise.all([
      reachedOf(open, action.voters),
      reachedOf(open, action.followers),
      reachedOf(open, action.otherReplicas),
    ]);
    // One that has ended since it was told to take the slot would do so with the next epoch that it knew of.
    const electorate = { voters, followers, otherReplicas, nodeTimeoutMs: action.nodeTimeoutMs };
    await takeNewestEpoch(owner, electorate, io, async () => {
      await requireNoKeys();
      await Promise.all(others.map((other) => setSlot(other, slot, 'STABLE')));
    });
    await setSlot(owner, slot, 'STABLE');
    const counts = await Promise.all(others.map((other) => keysIn(other, slot)));
    const full = others.filter((_, i) => counts[i] !== 0);
    await Promise.all(full.map((other) => setSlot(other, slot, 'IMPORTING', action.owner.id)));
    await requireNoKeys();
  } finally {
    open.closeAll();
  }
}
