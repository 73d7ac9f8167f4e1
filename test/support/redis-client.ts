/** Plain connections to Redis processes, as a client has them: every wait bounded, nothing repeated. */
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import type { Reply } from '../../src/engines/redis/client/resp.ts';
import { dialTcp } from '../../src/system/dial.ts';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly password: string;
}

export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An authenticated connection. `ms` bounds connecting and authenticating each. */
export async function connectRedis(address: RedisAddress, ms: number): Promise<RedisConnection> {
  const { host, port, password } = address;
  const connection = redisConnection(await dialTcp(host, port, AbortSignal.timeout(ms)));
  try {
    await within(ms, connection.command('AUTH', password));
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

/** One command on a connection of its own. An error reply rejects. */
export async function askRedis(address: RedisAddress, ...command: readonly string[]): Promise<Reply> {
  const connection = await connectRedis(address, 500);
  try {
    return await within(1000, connection.command(...command));
  } finally {
    connection.close();
  }
}

/** A flat list of names and values, as `CONFIG GET` and the `SENTINEL` commands answer. */
export function pairsOf(reply: Reply): Record<string, string> {
  const items = Array.isArray(reply) ? reply.map(String) : [];
  return Object.fromEntries(items.flatMap((name, i) => (i % 2 === 0 ? [[name, items[i + 1] ?? '']] : [])));
}
