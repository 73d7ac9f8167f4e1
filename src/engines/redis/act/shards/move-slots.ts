/**
 * Moves slots key by key, one slot after the other.
 *
 * A slot is open while its keys move: whoever asks its owner for a key that is not there any more is sent to the other side, and makes
 * new ones there. At the end the target takes the slot, with the newest epoch; the server that loses a slot deletes what it has of it. So the source must have no
 * key then, and must not get one: see `take-slot.ts`. The others learn of it from us, or soon from each other.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { Member } from '../../action.ts';
import { RedisError } from '../../client/resp.ts';
import { type Credentials, type OpenSession, sessionsWith } from '../../client/session.ts';
import { eachSlot, hasSlot, type SlotSet } from '../../kind/slots.ts';
import { nextKeys, ordinaryKeyBytes } from '../../observe/shards/slot-holder.ts';
import { copyFunctions } from './functions.ts';
import { type MoveSlots, type Moving, moveKeys, requireReplicated } from './move-keys.ts';
import { hasNewestEpoch, takeNewestEpoch } from './newest-epoch.ts';
import { openTarget, requireOwner } from './open-slot.ts';
import { reopenSlots } from './reopen.ts';
import {
  longestReply,
  reachedOf,
  requireQuorum,
  type ShardSession,
  type Sides,
  setSlot,
  shardSession,
  type View,
  viewOf,
} from './shard-session.ts';
import { engineOf, mostTakeMs, type Taken, takeSlot } from './take-slot.ts';

/** For one action. What is begun when it is over is finished. */
const patienceMs = 2_500;

/** Longer than a server waits for its replicas to hear of an open slot. */
const answerMs = 4_000;

/** A key that was planned by itself may take this long. */
const largeAnswerMs = 60_000;

/** Of `cluster-node-timeout`: so long may the source stand still for a batch. Then the others have yet to notice. */
const stillShare = 0.25;

/** So many are open at once: the answers for all of them come together. */
const slotsAtOnce = 8;

export async function moveSlots(action: MoveSlots, credentials: Credentials, io: EngineContext): Promise<void> {
  const isLarge = action.mostKeyBytes > ordinaryKeyBytes;
  const wait = isLarge ? largeAnswerMs : answerMs;
  const open = sessionsWith(io, credentials, { answerMs: wait, bytes: longestReply });
  const endsAt = io.now() + patienceMs;
  const isOver = (): boolean => io.now() >= endsAt;
  try {
    const [sides, followers, otherReplicas] = await Promise.all([
      sidesOf(open, action),
      reachedOf(open, action.followers),
      reachedOf(open, action.otherReplicas),
    ]);
    const { source, target } = sides;
    const [from, to] = await Promise.all([viewOf(source), viewOf(target)]);
    await reopenSlots(sides, action, from, to);
    if (to.myself.slots.length === 0) await copyFunctions(source, target);
    if (action.isReplicated) await requireReplicated(target, io);
    const electorate = { followers, otherReplicas, voters: [source, ...sides.others] };
    await takeNewestEpoch(target, { ...electorate, nodeTimeoutMs: action.nodeTimeoutMs }, io);
    const timeoutMs = Math.min(wait / 2, action.nodeTimeoutMs * stillShare);
    const engine = await engineOf(target);
    const moving: Moving = { action, credentials, io, engine, isOver, timeoutMs, inTurn: turns() };
    for (const slots of groupsOf(action.slots)) {
      const results = await Promise.allSettled(slots.map((slot) => moveSlot(sides, slot, { from, to, moving })));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      if (isOver()) return;
    }
  } finally {
    open.closeAll();
  }
}

async function sidesOf(open: OpenSession, { source, target, others }: MoveSlots): Promise<Sides> {
  const [from, to, reached] = await Promise.all([
    shardSession(open, source),
    shardSession(open, target),
    // Who is not reached hears of it from the others.
    reachedOf(open, others),
  ]);
  return { source: from, target: to, others: reached };
}

/** What is left when the time is over is for the next action. */
async function moveSlot(
  sides: Sides,
  slot: number,
  { from, to, moving }: { readonly from: View; readonly to: View; readonly moving: Moving },
): Promise<void> {
  const { source, target } = sides;
  if (hasSlot(to.myself.slots, slot)) return tellOwner(sides, slot);
  requireOwner(slot, moving.action, from, to);
  await openTarget(sides, slot, to);
  let taken: Taken | undefined;
  do {
    // It refuses where it has become a replica, or does not have the slot. From here on it makes no new key.
    const [, , found] = await Promise.all([
      setSlot(source, slot, 'MIGRATING', target.primary.id),
      requireQuorum(source),
      nextKeys(source, slot),
    ]);
    if (found.isEmpty) {
      // Keys that an action before this one has moved may be on one machine alone.
      if (moving.action.isReplicated) await requireReplicated(target, moving.io);
      await requireBelieved(target, source.primary);
      taken = await takeSlot(sides, slot, moving);
      if (taken === 'taken') return tellOwner(sides, slot);
      continue;
    }
    if (!(await moveKeys(sides, slot, found.keys, moving))) return;
  } while (!moving.isOver());
  if (taken === 'late') {
    const pods = `${source.primary.pod} or ${target.primary.pod}`;
    throw new Error(
      `${pods} took more than ${mostTakeMs} ms to answer, so ${target.primary.pod} has not taken slot ${slot}`,
    );
  }
}

/** Who reaches most of the cluster hears of a replica that has been elected in place of the source, also where the source does not. */
async function requireBelieved(target: ShardSession, source: Member): Promise<void> {
  const [view] = await Promise.all([viewOf(target), requireQuorum(target)]);
  const told = view.nodes.find(({ id }) => id === source.id);
  if (told === undefined || told.role !== 'primary' || told.isFailed || told.isSuspected) {
    throw new Error(`${target.primary.pod} does not take ${source.pod} for a primary that runs`);
  }
  if (!(await hasNewestEpoch(target))) {
    throw new Error(`another primary than ${target.primary.pod} has the newest epoch since`);
  }
}

/** Each begins when the one before has succeeded. */
function turns(): Moving['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next;
    return next;
  };
}

function groupsOf(set: SlotSet): number[][] {
  const slots = [...eachSlot(set)];
  return Array.from({ length: Math.ceil(slots.length / slotsAtOnce) }, (_, i) =>
    slots.slice(i * slotsAtOnce, (i + 1) * slotsAtOnce),
  );
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
