/**
 * The end of a move: the target takes a slot of which the source has no key.
 *
 * A hand-over of the source elects its replica within some milliseconds, and that one may make keys in the slot. If the target takes the slot with a later epoch, the keys of
 * that replica are deleted; if it takes the slot with an older one, those that have moved are. So Redis takes the slot by a script: only if that runs shortly after the target was
 * asked for its time, which was before the source was asked for the last time, and only if the target has heard of no newer epoch than its own. Who stands still meanwhile takes nothing.
 * A hand-over pauses writes of the source for longer than that before it begins (`take-over.ts`, `hand-over-shard.sh`), and `EVAL` at the source waits until such a pause is over.
 *
 * Valkey keeps the slot open on both sides in these cases, and nothing is deleted. A primary of Valkey that has a replica ends if a script sets a slot.
 */
import { infoFields } from '../../client/reply-fields.ts';
import { type ServerEngine, serverIn } from '../../kind/server.ts';
import { keysIn } from '../../observe/shards/slot-holder.ts';
import type { Moving } from './move-keys.ts';
import { requireQuorum, type ShardSession, type Sides, setSlot } from './shard-session.ts';

/** By the clock of the target. A round of questions takes some milliseconds. Less than `pauseFirstMs` of `take-over.ts`. */
export const mostTakeMs = 100;

/** Time and epochs are those at which the script runs. Arguments: slot, ID, time in milliseconds, and how long ago that may be. */
const takeScript = `local time, info = redis.call('TIME'), redis.call('CLUSTER', 'INFO')
if time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[3]) > tonumber(ARGV[4]) then return 'LATE' end
local own, newest = string.match(info, 'cluster_my_epoch:(%d+)'), string.match(info, 'cluster_current_epoch:(%d+)')
if own ~= newest then return 'OUTBID' end
redis.call('CLUSTER', 'SETSLOT', ARGV[1], 'NODE', ARGV[2])
return 'TAKEN'`;

/** Between the last look at the source and the command: much less than it takes to elect a replica of a source that has failed. */
const mostFinishMs = 1_000;

/** `late`: the answers took too long, and the target has not taken it. */
export type Taken = 'taken' | 'has keys' | 'late';

/** @throws where another node has a newer epoch */
export async function takeSlot(
  { source, target }: Sides,
  slot: number,
  { engine, io }: Pick<Moving, 'engine' | 'io'>,
): Promise<Taken> {
  const clock = await clockOf(target);
  const askedAt = io.now();
  // A server that hands over answers the first one when it is primary no more, and refuses the next one then.
  const asked = await Promise.all([
    source.command('EVAL', 'return 1', '0'),
    ...(engine === 'Redis' ? [setSlot(source, slot, 'MIGRATING', target.primary.id)] : []),
    requireQuorum(source),
    keysIn(source, slot),
  ]);
  if (asked.at(-1) !== 0) return 'has keys';
  if (io.now() - askedAt > mostFinishMs) return 'late';
  const { id } = target.primary;
  switch (engine) {
    case 'Valkey':
      await setSlot(target, slot, 'NODE', id);
      return 'taken';
    case 'Redis': {
      const told = await target.command('EVAL', takeScript, '0', String(slot), id, clock, String(mostTakeMs));
      if (told === 'OUTBID') throw new Error(`another node than ${target.primary.pod} has a newer epoch`);
      return told === 'TAKEN' ? 'taken' : 'late';
    }
    default:
      return engine satisfies never;
  }
}

/** Milliseconds. */
async function clockOf({ command, primary }: ShardSession): Promise<string> {
  const time = await command('TIME');
  if (!Array.isArray(time)) throw new Error(`${primary.pod} tells no time`);
  return String(Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1000));
}

/** By its own word: an image may be of another engine than the spec says. */
export async function engineOf({ command, primary }: ShardSession): Promise<ServerEngine> {
  const fields = infoFields(String(await command('INFO', 'server')));
  const server = serverIn((field) => fields[field]);
  if (server === undefined) throw new Error(`${primary.pod} tells no version`);
  return server.engine;
}
