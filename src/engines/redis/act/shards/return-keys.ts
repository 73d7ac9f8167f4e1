/**
 * A primary that comes back after its replica was elected has keys of slots that were open there. No other node tells it who has such a slot by now, so it
 * keeps them, and cannot become a replica without losing them. Perhaps nobody else has them: they moved in the moment in which it was lost. So they go to
 * the owner, which has a newer word on every key that it has.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { RedisAction } from '../../action.ts';
import { RedisError } from '../../client/resp.ts';
import { type Credentials, sessionsWith } from '../../client/session.ts';
import { hasSlot } from '../../kind/slots.ts';
import { type FoundKey, nextKeys } from '../../observe/shards/slot-holder.ts';
import { batchOf, migrate } from './move-keys.ts';
import {
  asking,
  longestReply,
  requireQuorum,
  type ShardSession,
  setSlot,
  shardSession,
  viewOf,
} from './shard-session.ts';

type ReturnKeys = Extract<RedisAction, { type: 'redis.returnKeys' }>;

const answerMs = 4_000;
const patienceMs = 2_500;
/** Of `cluster-node-timeout`: so long may the owner stand still for a batch. */
const stillShare = 0.25;

export async function returnKeys(action: ReturnKeys, credentials: Credentials, io: EngineContext): Promise<void> {
  const { slot, mostKeyBytes } = action;
  const open = sessionsWith(io, credentials, { answerMs, bytes: longestReply });
  const endsAt = io.now() + patienceMs;
  const timeoutMs = Math.min(answerMs / 2, action.nodeTimeoutMs * stillShare);
  try {
    const [from, owner] = await Promise.all([shardSession(open, action.from), shardSession(open, action.owner)]);
    await requireAside(from, owner, slot);
    // It takes a failed node for the owner, perhaps, and would refuse everything. MIGRATE takes keys of an open slot only.
    await setSlot(from, slot, 'NODE', action.owner.id);
    await setSlot(from, slot, 'IMPORTING', action.owner.id);
    do {
      const found = await nextKeys(asking(from), slot);
      if (found.isEmpty) {
        await setSlot(from, slot, 'STABLE');
        return;
      }
      const batch = batchFrom(found.keys, mostKeyBytes, action);
      if (batch.length > 0) await giveBack({ from, owner }, batch, { credentials, timeoutMs });
    } while (io.now() < endsAt);
  } finally {
    open.closeAll();
  }
}

/** The owner has the slot to itself: while it sends clients to somebody else, it takes no key that it does not have. */
async function requireAside(from: ShardSession, owner: ShardSession, slot: number): Promise<void> {
  const [aside, served] = await Promise.all([viewOf(from), viewOf(owner), requireQuorum(owner)]);
  if (hasSlot(aside.myself.slots, slot) || !hasSlot(served.myself.slots, slot)) {
    throw new Error(`slot ${slot} has another owner than ${owner.primary.pod} meanwhile`);
  }
  if (served.myself.migrating.some((each) => each.slot === slot)) {
    throw new Error(`slot ${slot} is open on ${owner.primary.pod}`);
  }
}

/** None where all are gone since they were looked at. */
function batchFrom(found: readonly FoundKey[], mostKeyBytes: number, { from, slot }: ReturnKeys): string[] {
  const ordinary = found.filter(({ bytes }) => bytes <= mostKeyBytes);
  if (found.length > 0 && ordinary.length === 0) {
    throw new Error(
      `${from.pod} has keys of slot ${slot} that are too large to be moved: delete them or make them smaller`,
    );
  }
  return batchOf(ordinary);
}

async function giveBack(
  { from, owner }: { readonly from: ShardSession; readonly owner: ShardSession },
  keys: readonly string[],
  how: Parameters<typeof migrate>[2],
): Promise<void> {
  try {
    await migrate({ source: from, target: owner }, keys, how);
  } catch (error) {
    if (!(error instanceof RedisError) || !/\bBUSYKEY\b/.test(error.message)) throw error;
    // The owner's copy stays, whatever is here: clients have been served by it since it was elected.
    const aside = asking(from);
    for (const key of keys) if ((await owner.command('EXISTS', key)) === 1) await aside.command('DEL', key);
  }
}
