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
import type { ServerEngine } from '../../kind/server.ts';
import { dataPort } from '../../names.ts';
import type { FoundKey } from '../../observe/shards/slot-holder.ts';
import { resolveDuplicates } from './duplicates.ts';
import { asking, type ShardSession, type Sides } from './shard-session.ts';

export type MoveSlots = Extract<RedisAction, { type: 'redis.moveSlots' }>;

export interface Moving {
  readonly action: MoveSlots;
  readonly credentials: Credentials;
  readonly io: EngineContext;
  /** Of the target. */
  readonly engine: ServerEngine;
  readonly isOver: () => boolean;
  /** Of one `MIGRATE`, which ends before we stop waiting for it. Meanwhile the source answers nobody. */
  readonly timeoutMs: number;
  /** One batch after the other, of all slots together. After one that fails, none. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
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
  await moving.inTurn(async () => {
    try {
      await migrate(sides, batch, moving);
    } catch (error) {
      if (!(error instanceof RedisError) || !/\bBUSYKEY\b/.test(error.message)) throw error;
      // Clients are served by the source for as long as it has the key: so its copy takes the place of the other one.
      const asked = { source: sides.source, target: asking(sides.target) };
      await resolveDuplicates(asked, slot, batch, (key) => migrate(sides, [key], moving, ['REPLACE']));
    }
    if (moving.action.isReplicated) await requireReplicated(sides.target, moving.io);
  });
  return true;
}

/** At least one, where there is one. */
export function batchOf(found: readonly FoundKey[]): string[] {
  const batch: string[] = [];
  let size = 0;
  for (const { key, bytes } of found) {
    if (batch.length > 0 && size + bytes > bytesTogether) continue;
    batch.push(key);
    size += bytes;
  }
  return batch;
}

export async function migrate(
  { source, target }: Pick<Sides, 'source' | 'target'>,
  keys: readonly string[],
  { credentials, timeoutMs }: Pick<Moving, 'credentials' | 'timeoutMs'>,
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
 * more than one batch is ever in this state. It is asked for before the first batch of an action, since the action before may have failed here; after each
 * batch; and before the target takes the slot.
 *
 * `WAIT` tells nothing here by itself: it counts what came over its own connection, and the keys came over that of the source. While it waits, the
 * server asks its replicas how far they are.
 */
export async function requireReplicated(
  { command, primary }: ShardSession,
  { now }: Pick<EngineContext, 'now'>,
): Promise<void> {
  const replication = async () => infoFields(String(await command('INFO', 'replication')));
  let told = await replication();
  const moved = Number(told.master_repl_offset);
  const endsAt = now() + replicatedWithinMs;
  do {
    if (offsetsIn(told).some((offset) => offset >= moved)) return;
    await command('WAIT', moreThanThereAre, askedWithinMs);
    told = await replication();
  } while (now() < endsAt);
  throw new Error(
    `no replica of ${primary.pod} had what it has within ${replicatedWithinMs} ms: nothing more moves there before one does`,
  );
}

const moreThanThereAre = '99';
const askedWithinMs = '5';

/** Of `slave0:ip=10.0.0.1,port=6379,state=online,offset=42,lag=0`. */
function offsetsIn(fields: Readonly<Record<string, string | undefined>>): number[] {
  return Object.entries(fields).flatMap(([name, value = '']) => {
    const offset = /^slave\d+$/.test(name) ? /(?:^|,)state=online,offset=(\d+)/.exec(value)?.[1] : undefined;
    return offset === undefined ? [] : [Number(offset)];
  });
}
