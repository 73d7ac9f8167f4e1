/** Has the source move slots by itself: it keeps them until the target has all of it. See the plan for what becomes of it. */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { RedisAction } from '../../action.ts';
import { RedisError } from '../../client/resp.ts';
import { type Credentials, sessionsWith } from '../../client/session.ts';
import { slotArguments } from '../../kind/slots.ts';
import { copyFunctions } from './functions.ts';
import { takeNewestEpoch } from './newest-epoch.ts';
import { longestReply, reachedOf, requireQuorum, shardSession, viewOf } from './shard-session.ts';

export async function migrateSlots(
  action: Extract<RedisAction, { type: 'redis.migrateSlots' }>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const open = sessionsWith(io, credentials, { bytes: longestReply });
  try {
    const [source, target, others, followers, otherReplicas] = await Promise.all([
      shardSession(open, action.source),
      shardSession(open, action.target),
      reachedOf(open, action.others),
      reachedOf(open, action.followers),
      reachedOf(open, action.otherReplicas),
    ]);
    const [, view] = await Promise.all([viewOf(source), viewOf(target), requireQuorum(source), requireQuorum(target)]);
    if (view.myself.slots.length === 0) await copyFunctions(source, target);
    // The target takes them by itself at the end.
    const { nodeTimeoutMs } = action;
    await takeNewestEpoch(target, { followers, otherReplicas, voters: [source, ...others], nodeTimeoutMs }, io);
    const slots = slotArguments(action.slots);
    await unless(
      /already migrating slot/,
      source.command('CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...slots, 'NODE', action.target.id),
    );
  } finally {
    open.closeAll();
  }
}

export async function cancelMigrations(
  action: Extract<RedisAction, { type: 'redis.cancelMigrations' }>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const open = sessionsWith(io, credentials, { bytes: longestReply });
  try {
    const source = await shardSession(open, action.source);
    await viewOf(source);
    await unless(/No migrations ongoing/, source.command('CLUSTER', 'CANCELSLOTMIGRATIONS'));
  } finally {
    open.closeAll();
  }
}

/** That answer says that it has been done before. */
export async function unless(done: RegExp, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof RedisError) || !done.test(error.message)) throw error;
  }
}
