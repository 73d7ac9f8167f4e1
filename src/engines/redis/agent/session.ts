/** One conversation with a Redis process, as whom it lets in. */
import type { Endpoint } from '../../../backup/members.ts';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { openConnection, placeOf } from '../../../engine/driver/connection.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { inTime } from '../../../engine/driver/wait.ts';
import type { TlsMaterial } from '../../../engine/engine-context.ts';
import { type RedisConnection, redisConnection } from '../client/connection.ts';
import { RedisError } from '../client/resp.ts';

const answerMs = 5_000;

/** What follows `AUTH`; nothing where nobody asks for a password. */
export type RedisLogin = readonly string[];

/** The first one that a node takes counts; `own` are the cluster's alone. */
export interface RedisLogins {
  readonly own: readonly RedisLogin[];
  readonly shared: RedisLogin;
}

/** What all conversations of one backup have in common. */
export interface RedisAccess {
  readonly logins: RedisLogins;
  readonly tls: TlsMaterial | undefined;
  readonly context: AgentContext;
  /** Bytes of an answer that are read, where that is not the usual. */
  readonly longest?: number;
}

export interface RedisSession {
  readonly connection: RedisConnection;
  readonly login: RedisLogin;
  /** Of the process, without its port; empty where the connection has ended. */
  readonly address: string;
}

/** @throws Failure SourceUnreachable, SourceRefused, SourceBroken; at the latest after five seconds */
export async function inRedisSession<T>(
  endpoint: Endpoint,
  { logins, tls, context, longest }: RedisAccess,
  talk: (session: RedisSession) => Promise<T>,
): Promise<T> {
  const socket = await openConnection(endpoint, tls, context);
  const connection = redisConnection(socket, longest);
  const address = ('remoteAddress' in socket ? socket.remoteAddress : undefined) as string | undefined;
  const patience = { ...context, idleMs: Math.min(answerMs, context.idleMs) };
  const late = (): Failure => new Failure('SourceUnreachable', `${placeOf(endpoint)} does not answer`);
  const logInAndTalk = async (): Promise<T> =>
    talk({ connection, login: await logIn(connection, logins), address: address ?? '' });
  try {
    return await inTime(logInAndTalk(), patience, late);
  } catch (error) {
    throw redisFailure(error, endpoint);
  } finally {
    connection.close();
  }
}

/** `LOADING` and the like pass by themselves; a wrong password does not. */
export function redisFailure(error: unknown, endpoint: Endpoint): unknown {
  if (!(error instanceof RedisError)) return error;
  const isRefusal = ['WRONGPASS', 'NOAUTH', 'NOPERM', 'ERR', 'DENIED'].includes(error.code.replace(/^-/, ''));
  return new Failure(isRefusal ? 'SourceRefused' : 'SourceBroken', `${placeOf(endpoint)} refuses`, { cause: error });
}

async function logIn(connection: RedisConnection, { own, shared }: RedisLogins): Promise<RedisLogin> {
  for (const login of own) {
    try {
      await connection.command('AUTH', ...login);
      return login;
    } catch (error) {
      if (!(error instanceof RedisError) || error.code !== 'WRONGPASS') throw error;
    }
  }
  if (shared.length > 0) await connection.command('AUTH', ...shared);
  return shared;
}

/**
 * Those that know the cluster by its own user, where any of them does: others may be of another cluster that has the same
 * password.
 */
export function ofThisCluster<T extends { readonly endpoint: Endpoint; readonly login: RedisLogin }>(
  told: readonly T[],
  { logins, context }: RedisAccess,
): readonly T[] {
  const knowing = told.filter(({ login }) => logins.own.includes(login));
  const ours = knowing.length > 0 ? knowing : told;
  for (const { endpoint } of told.filter((each) => !ours.includes(each))) {
    context.log.info({ member: placeOf(endpoint) }, 'a process is left out that does not know the cluster');
  }
  return ours;
}
