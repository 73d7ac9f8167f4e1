/** Authenticated sessions with the processes of one cluster. A session lives for one question or one action. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { sentinelPort } from '../names.ts';
import { type RedisConnection, redisConnection } from './connection.ts';
import { type Identity, identityOf, isIdentity } from './identity.ts';
import { type ClientPasswords, clientPasswords, firstLine, passwordSecret } from './password.ts';
import { RedisError, type Reply } from './resp.ts';

/** Time in which a process must authenticate and answer everything it is asked. */
export const answerTimeoutMs = 1000;

/**
 * Time to connect. The kernel accepts for a busy process, so only a dead or unreachable machine takes longer; and while
 * one is dead, every look at the cluster waits this long for it.
 */
const connectTimeoutMs = 300;

/** The Secret with the password, or its key, is not there, or it is empty: nobody can talk to the database as a client. */
export class PasswordMissing extends Error {
  override readonly name = 'PasswordMissing';
}

export async function passwordOf(
  cluster: Cluster<RedisSpec>,
  io: EngineContext,
): Promise<{ readonly password: string; readonly clients: ClientPasswords }> {
  const { name, key } = passwordSecret(cluster);
  const values = await io.secret(name);
  const value = values?.[key];
  if (values === undefined || value === undefined) {
    throw new PasswordMissing(`Secret ${name} with key ${key} does not exist`);
  }
  const password = firstLine(value);
  if (password !== '') return { password, clients: clientPasswords(values, key) };
  // A server that is told an empty one lets everybody in.
  io.secretRefused(name);
  throw new PasswordMissing(`Secret ${name} has no password in the first line of its key ${key}`);
}

/** What the operator may log in with; one of the two is there. */
export interface Credentials {
  readonly identity?: Identity;
  /** Of the default user, which clients have. */
  readonly password?: string;
  /** There where the password is. */
  readonly clients?: ClientPasswords;
  /** Why there is no password. */
  readonly missing?: string;
}

/** Throws PasswordMissing where there is neither. */
export async function credentialsOf(cluster: Cluster<RedisSpec>, io: EngineContext): Promise<Credentials> {
  const identity = await identityOf(cluster, io);
  const known = typeof identity === 'string' ? {} : { identity };
  try {
    return { ...known, ...(await passwordOf(cluster, io)) };
  } catch (error) {
    if (!(error instanceof PasswordMissing) || typeof identity === 'string') throw error;
    return { ...known, missing: error.message };
  }
}

/** Where the process is expected. */
interface Place {
  readonly address: string;
  readonly port: number;
}

/** As whom the process knows us. */
export type Login = 'identity' | 'password';

/**
 * A process that has not been told of the identity takes the password. So does a stranger with the same password, which has an
 * address that was ours: what we know of pods may be late. It would be told of us, and its data replaced.
 */
export async function logIn(
  connection: RedisConnection,
  { identity, password }: Credentials,
  place: Place,
): Promise<Login> {
  if (identity !== undefined) {
    try {
      await connection.command('AUTH', identity.user, identity.password);
      return 'identity';
    } catch (error) {
      if (!(error instanceof RedisError) || error.code !== 'WRONGPASS' || password === undefined) throw error;
    }
  }
  await connection.command('AUTH', password ?? '');
  if (identity !== undefined) await requireNoStranger(connection, identity.user, place);
  return 'password';
}

/**
 * A member of another cluster knows the identity of that. A process that no operator has made announces no address: ours have all
 * been started with that of their pod.
 */
async function requireNoStranger(connection: RedisConnection, own: string, { address, port }: Place): Promise<void> {
  const question =
    port === sentinelPort ? ['SENTINEL', 'CONFIG', 'GET', 'announce-ip'] : ['CONFIG', 'GET', 'replica-announce-ip'];
  const [users, announced] = await Promise.all([connection.command('ACL', 'USERS'), connection.command(...question)]);
  const other = Array.isArray(users) && users.some((user) => isIdentity(String(user)) && user !== own);
  if (other) throw new Error('it is a member of another cluster');
  const told = Array.isArray(announced) ? announced[1] : undefined;
  if (told !== address)
    throw new Error(`it is no process of this cluster: it does not announce the address ${address} as its own`);
}

/** An open connection; `within` bounds what is said on it. */
async function connect(io: EngineContext, { address, port }: Place, longest?: number): Promise<RedisConnection> {
  const stream = within(io, connectTimeoutMs, `${address}:${port}`, (signal) => io.dial(address, port, signal));
  return redisConnection(await stream, longest);
}

/** Runs `talk` on a fresh connection, all within a second. `longest`: of an answer, in bytes. */
export async function withSession<T>(
  io: EngineContext,
  target: Place & { readonly credentials: Credentials; readonly longest?: number },
  talk: (connection: RedisConnection, login: Login) => Promise<T>,
): Promise<T> {
  let connection: RedisConnection | undefined;
  try {
    const opened = await connect(io, target, target.longest);
    connection = opened;
    return await within(io, answerTimeoutMs, `${target.address}:${target.port}`, async () => {
      const login = await logIn(opened, target.credentials, target);
      return talk(opened, login);
    });
  } finally {
    connection?.close();
  }
}

/** A connection of which each command is bounded by a second, or by what it was opened with. */
export interface Session {
  command(...args: readonly string[]): Promise<Reply>;
}

export interface SessionLimits {
  /** For each command. */
  readonly answerMs?: number;
  /** Texts are bytes, and a reply may be this long: see `useBytes`. */
  readonly bytes?: number;
}

/** Opens sessions that stay open for a longer action, until `closeAll`. */
export interface OpenSession {
  (address: string, port: number): Promise<Session>;
  closeAll(): void;
}

export function sessionsWith(io: EngineContext, credentials: Credentials, limits: SessionLimits = {}): OpenSession {
  const { answerMs = answerTimeoutMs, bytes } = limits;
  const connections: RedisConnection[] = [];
  const open = async (address: string, port: number): Promise<Session> => {
    const place = `${address}:${port}`;
    const connection = await connect(io, { address, port });
    connections.push(connection);
    await within(io, answerTimeoutMs, place, () => logIn(connection, credentials, { address, port }));
    if (bytes !== undefined) connection.useBytes(bytes);
    return { command: (...args) => within(io, answerMs, place, () => connection.command(...args)) };
  };
  return Object.assign(open, {
    closeAll: () => {
      for (const connection of connections) connection.close();
    },
  });
}
