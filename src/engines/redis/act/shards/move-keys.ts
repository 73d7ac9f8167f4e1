/**
 * Moves some keys of an open slot. While they move, both servers answer nobody: so they are few, and small together. A larger key is moved by itself, and
 * one that was not planned for stays.
 *
 * A key that the target has already is never replaced: see `duplicates.ts`.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { RedisAction } from '../../action.ts';
import { infoFields } from '../../client/reply-fields.ts';
import { RedisError } from '../../client/resp.ts';
import type { Credentials } from '../../client/session.ts';
import { dataPort } from '../../names.ts';
import type { FoundKey } from '../../observe/shards/slot-holder.ts';
import { resolveDuplicates } from './duplicates.ts';
import type { ShardSession, Sides } from './shard-session.ts';

export type MoveSlots = Extract<RedisAction, { type: 'redis.moveSlots' }>;

export interface Moving {
  readonly action: MoveSlots;
  readonly credentials: Credentials;
  readonly io: EngineContext;
  readonly isOver: () => boolean;
  /** Of one `MIGRATE`, which ends before we stop waiting for it. */
  readonly timeoutMs: number;
}

/** What moves together: a few milliseconds. */
const bytesTogether = 512 * 1024;

/** A replica of the target gets the keys within this time, or nothing more is moved. */
const replicatedWithinMs = 1000;

/** False where none of these may move: each is larger than what was planned for. */
export async function moveKeys(
  sides: Sides,
  slot: number,
  found: readonly FoundKey[],
  moving: Moving,
): Promise<boolean> {
  if (found.length === 0) return true;
  const batch = batchOf(found.filter(({ bytes }) => bytes <= moving.action.mostKeyBytes));
  if (batch.length === 0) return false;
  try {
    await migrate(sides, batch, moving);
  } catch (error) {
    if (!(error instanceof RedisError) || !/\bBUSYKEY\b/.test(error.message)) throw error;
    await resolveDuplicates(sides, slot, batch, (key) => migrate(sides, [key], moving, ['REPLACE']));
  }
  await requireReplicated(sides.target);
  return true;
}

/** At least one, where there is one. */
function batchOf(found: readonly FoundKey[]): string[] {
  const batch: string[] = [];
  let size = 0;
  for (const { key, bytes } of found) {
    if (batch.length > 0 && size + bytes > bytesTogether) continue;
    batch.push(key);
    size += bytes;
  }
  return batch;
}

async function migrate(
  { source, target }: Sides,
  keys: readonly string[],
  { credentials, timeoutMs }: Moving,
  options: readonly string[] = [],
): Promise<void> {
  const place = [target.primary.address, String(dataPort), '', '0', String(Math.floor(timeoutMs))];
  await source.command('MIGRATE', ...place, ...options, ...login(credentials), 'KEYS', ...keys);
}

/** Texts of this session are bytes. */
function login({ identity, password = '' }: Credentials): string[] {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1');
  return identity === undefined ? ['AUTH', bytes(password)] : ['AUTH2', bytes(identity.user), bytes(identity.password)];
}

/**
 * The source deletes what the target has taken. Should the target's machine be lost before its replica has that, it would be lost, too: so no
 * more than one batch is ever in this state.
 */
async function requireReplicated({ command, primary }: ShardSession): Promise<void> {
  const { connected_slaves: replicas = '0' } = infoFields(String(await command('INFO', 'replication')));
  if (Number(replicas) === 0) return;
  const reached = await command('WAIT', '1', String(replicatedWithinMs));
  if (typeof reached !== 'number' || reached < 1) {
    throw new Error(`no replica of ${primary.pod} had the keys that moved within ${replicatedWithinMs} ms`);
  }
}
