/**
 * Sessions with the source of an import: a server of somebody else, which is asked and told nothing but its login. The operator asks it, since a
 * node can tell neither why a copy is refused nor whether anybody writes there.
 */
import { createHash } from 'node:crypto';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import type { ImportSource } from '../kind/source.ts';
import { type RedisConnection, redisConnection } from './connection.ts';

/** It may be far away. */
const connectTimeoutMs = 2000;
const answerTimeoutMs = 3000;

export interface SourceLogin {
  /** Empty for the user `default`. */
  readonly user: string;
  /** Empty where the source asks for none. */
  readonly password: string;
}

export class SourceSecretUnusable extends Error {
  override readonly name = 'SourceSecretUnusable';
}

const mostBytes = 4096;

/** Rejects with SourceSecretUnusable. */
export async function sourceLogin(
  { user = '', password }: ImportSource,
  io: Pick<EngineContext, 'secret'>,
): Promise<SourceLogin> {
  if (password === undefined) return { user: '', password: '' };
  const value = (await io.secret(password.name))?.[password.key];
  if (value === undefined) throw new SourceSecretUnusable(`Secret ${password.name} has no key ${password.key}`);
  const line = value.split('\n', 1)[0] ?? '';
  if (line === '' || Buffer.byteLength(line) > mostBytes) {
    throw new SourceSecretUnusable(`key ${password.key} of Secret ${password.name} is empty or too long`);
  }
  return { user, password: line };
}

/** Equal where a node has the login. Of no use to anybody else. */
export function loginDigest({ user, password }: SourceLogin): string {
  return createHash('sha256')
    .update(JSON.stringify([user, password]))
    .digest('hex');
}

/** Runs `talk` on a connection of its own. Each command is bounded. */
export async function withSource<T>(
  io: EngineContext,
  { host, port }: Pick<ImportSource, 'host' | 'port'>,
  { user, password }: SourceLogin,
  talk: (source: Pick<RedisConnection, 'command'>) => Promise<T>,
): Promise<T> {
  const place = `${host}:${port}`;
  const connection = redisConnection(
    await within(io, connectTimeoutMs, place, (signal) => io.dial(host, port, signal)),
  );
  const command: RedisConnection['command'] = (...args) =>
    within(io, answerTimeoutMs, place, () => connection.command(...args));
  try {
    if (password !== '') await command('AUTH', ...(user === '' ? [] : [user]), password);
    return await talk({ command });
  } finally {
    connection.close();
  }
}
