/**
 * Moves slots key by key, one slot after the other.
 *
 * A slot is open while its keys move: whoever asks its owner for a key that is not there any more is sent to the other side, and makes
 * new ones there. The target is told first, so that nobody is sent where nothing is known of it. At the end the target takes the
 * slot by itself, with a newer epoch; the server that loses a slot deletes what it has of it. So the source must have no key then, and must not get one: it
 * is asked right before, and it is sure of being primary, since it reaches most of the cluster. The others learn of it from us, or soon
 * from each other.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { RedisError } from '../../client/resp.ts';
import { type Credentials, type OpenSession, sessionsWith } from '../../client/session.ts';
import { eachSlot, hasSlot } from '../../kind/slots.ts';
import { keysIn, ordinaryKeyBytes } from '../../observe/shards/slot-holder.ts';
import { copyFunctions } from './copy-functions.ts';
import { type MoveSlots, type Moving, moveNextKeys } from './move-keys.ts';
import {
  longestReply,
  requireQuorum,
  type ShardSession,
  type Sides,
  setSlot,
  shardSession,
  type View,
  viewOf,
} from './shard-session.ts';

/** For one action. What is begun when it is over is finished. */
const patienceMs = 2_500;

/** Longer than a server waits for its replicas to hear of an open slot. */
const answerMs = 4_000;

/** A key that was planned by itself may take this long. */
const largeAnswerMs = 60_000;

/** Between the look that found no key and the end of the move: much less than it takes to elect a replica. */
const mostFinishMs = 300;

export async function moveSlots(action: MoveSlots, credentials: Credentials, io: EngineContext): Promise<void> {
  const isLarge = action.mostKeyBytes > ordinaryKeyBytes;
  const wait = isLarge ? largeAnswerMs : answerMs;
  const open = sessionsWith(io, credentials, { answerMs: wait, bytes: longestReply });
  const endsAt = io.now() + patienceMs;
  const isOver = (): boolean => io.now() >= endsAt;
  try {
    const sides = await sidesOf(open, action);
    const { source, target } = sides;
    const [from, to] = await Promise.all([viewOf(source), viewOf(target)]);
    if (to.myself.slots.length === 0) await copyFunctions(source, target);
    for (const slot of eachSlot(action.slots)) {
      if (hasSlot(to.myself.slots, slot)) await tellOwner(sides, slot);
      else {
        requireOwner(slot, action, from, to);
        await openSlot(sides, slot);
        const isEmpty = await moveKeys(sides, slot, { action, credentials, io, isOver, timeoutMs: wait / 2 });
        if (!isEmpty) return;
      }
      if (isOver()) return;
    }
  } finally {
    open.closeAll();
  }
}

async function sidesOf(open: OpenSession, { source, target, others }: MoveSlots): Promise<Sides> {
  const told = Promise.allSettled(others.map((other) => shardSession(open, other)));
  const [from, to] = await Promise.all([shardSession(open, source), shardSession(open, target)]);
  // Who is not reached hears of it from the others.
  const reached = (await told).flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return { source: from, target: to, others: reached };
}

/** Both sides say that the source has it. Where a replica of the source has been elected, the target may be the first to know. */
function requireOwner(slot: number, { source, target }: MoveSlots, from: View, to: View): void {
  const toldSource = to.nodes.find(({ id }) => id === source.id);
  if (!hasSlot(from.myself.slots, slot)) throw new Error(`${source.pod} does not have slot ${slot} any more`);
  if (toldSource === undefined || !hasSlot(toldSource.slots, slot)) {
    throw new Error(`${target.pod} does not know that ${source.pod} has slot ${slot}`);
  }
  if (!from.nodes.some(({ id, role }) => id === target.id && role === 'primary')) {
    throw new Error(`${source.pod} does not know ${target.pod} as a primary`);
  }
}

async function openSlot({ source, target }: Sides, slot: number): Promise<void> {
  await setSlot(target, slot, 'IMPORTING', source.primary.id);
  await setSlot(source, slot, 'MIGRATING', target.primary.id);
}

/** Whether all of them have moved, and the slot has. */
async function moveKeys(sides: Sides, slot: number, moving: Moving): Promise<boolean> {
  do {
    await requireQuorum(sides.source);
    const moved = await moveNextKeys(sides, slot, moving);
    if (moved === 'only large ones') return false;
    if (moved === 'none' && (await takeSlot(sides, slot, moving.io))) return true;
  } while (!moving.isOver());
  return false;
}

/** False where it has to be tried again. */
async function takeSlot(sides: Sides, slot: number, io: EngineContext): Promise<boolean> {
  const { source, target } = sides;
  const askedAt = io.now();
  // It refuses where it has become a replica, or does not have the slot; from here on it makes no new key.
  const [, , keys] = await Promise.all([
    setSlot(source, slot, 'MIGRATING', target.primary.id),
    requireQuorum(source),
    keysIn(source, slot),
  ]);
  if (keys > 0 || io.now() - askedAt > mostFinishMs) return false;
  await setSlot(target, slot, 'NODE', target.primary.id);
  await tellOwner(sides, slot);
  return true;
}

async function tellOwner({ source, target, others }: Sides, slot: number): Promise<void> {
  await setSlot(source, slot, 'NODE', target.primary.id);
  await Promise.all(others.map((other) => tell(other, slot, target)));
}

async function tell(other: ShardSession, slot: number, target: ShardSession): Promise<void> {
  try {
    await setSlot(other, slot, 'NODE', target.primary.id);
  } catch (error) {
    // It is primary no more, or does not know the target yet: it hears of it from the others.
    if (!(error instanceof RedisError)) throw error;
  }
}
