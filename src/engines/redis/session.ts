/** Authenticated sessions with the processes of one cluster. A session lives for one question or one action. */
import type { Cluster } from '../../api/cluster.ts';
import type { RedisSpec } from '../../api/redis.ts';
import type { EngineIO } from '../engine-io.ts';
import { type RedisConnection, redisConnection } from './connection.ts';
import { passwordSecret } from './password.ts';
import type { Reply } from './resp.ts';

/** Time in which a process must authenticate and answer everything it is asked. */
export const answerTimeoutMs = 1000;

/**
 * Time to connect. The kernel accepts for a busy process, so only a dead or unreachable machine takes longer; and while
 * one is dead, every look at the cluster waits this long for it.
 */
const connectTimeoutMs = 300;

/** The Secret with the password, or its key, is not there: nobody can talk to the database. */
export class PasswordMissing extends Error {
  override readonly name = 'PasswordMissing';
}

export async function passwordOf(cluster: Cluster<RedisSpec>, io: EngineIO): Promise<string> {
  const { name, key } = passwordSecret(cluster);
  const value = (await io.secret(name))?.[key];
  if (value === undefined) throw new PasswordMissing(`Secret ${name} with key ${key} does not exist`);
  // The pods read the first line only, so that a trailing newline in a Secret does no harm.
  return value.split('\n', 1)[0] ?? '';
}

/** Rejects when `work` takes longer than `ms`; the signal it gets aborts then. */
/** An open connection; `within` bounds what is said on it. */
async function connect(io: EngineIO, address: string, port: number): Promise<RedisConnection> {
  const stream = within(io, connectTimeoutMs, `${address}:${port}`, (signal) => io.dial(address, port, signal));
  return redisConnection(await stream);
}

/** Made once: an abort without a reason makes an exception with a stack each time. */
const isOver = new Error('the exchange is over');

async function within<T>(
  io: EngineIO,
  ms: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = io.sleep(ms, over.signal).then(() => {
    throw new Error(`${what} did not answer within ${ms} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work(over.signal), late]);
  } finally {
    over.abort(isOver);
  }
}

/** Runs `talk` on a fresh connection, all within a second. */
export async function withSession<T>(
  io: EngineIO,
  target: { readonly address: string; readonly port: number; readonly password: string },
  talk: (connection: RedisConnection) => Promise<T>,
): Promise<T> {
  let connection: RedisConnection | undefined;
  try {
    const opened = await connect(io, target.address, target.port);
    connection = opened;
    return await within(io, answerTimeoutMs, `${target.address}:${target.port}`, async () => {
      await opened.command('AUTH', target.password);
      return talk(opened);
    });
  } finally {
    connection?.close();
  }
}

/** A connection of which each command is bounded by a second. */
export interface Session {
  command(...args: readonly string[]): Promise<Reply>;
}

/** Opens sessions that stay open for a longer action, until `closeAll`. */
export interface OpenSession {
  (address: string, port: number): Promise<Session>;
  closeAll(): void;
}

export function sessionsWith(io: EngineIO, password: string): OpenSession {
  const connections: RedisConnection[] = [];
  const open = async (address: string, port: number): Promise<Session> => {
    const place = `${address}:${port}`;
    const connection = await connect(io, address, port);
    connections.push(connection);
    await within(io, answerTimeoutMs, place, () => connection.command('AUTH', password));
    return { command: (...args) => within(io, answerTimeoutMs, place, () => connection.command(...args)) };
  };
  return Object.assign(open, {
    closeAll: () => {
      for (const connection of connections) connection.close();
    },
  });
}
