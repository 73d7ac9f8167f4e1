/** What PostgreSQL of each member says by SQL. Patroni tells what it means to do; this is what clients meet. */
import { shortened } from '../../../api/bounds.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { PostgresConnection } from '../client/connection.ts';
import { operatorSession } from '../client/credentials.ts';
import { ask, askOne } from '../client/question.ts';
import {
  invalidIndexesQuestion,
  invalidIndexSetting,
  markedQuestion,
  reorderedQuestion,
} from '../client/questions/databases.ts';
import {
  logQuestion,
  type ServerFacts,
  type SettingSeen,
  serverQuestion,
  settingsQuestion,
} from '../client/questions/server.ts';
import { hasSource } from '../client/server-ca.ts';
import { ServerError } from '../client/server-error.ts';
import { readOnly, type SessionTarget, withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { parameterNames } from '../resources/parameters.ts';

export type ServerSeen =
  | {
      readonly state: 'seen';
      readonly facts: ServerFacts;
      readonly settings: readonly SettingSeen[];
      /** Fingerprint of the certificate that it shows. Only where the spec names the source of it. */
      readonly shown?: string;
      /** Databases in which this server sorts in another way than their indexes do. Asked of a primary. */
      readonly reordered?: string;
      /** Indexes that should enforce something and do not, by their databases. Asked of a primary. */
      readonly invalid?: string;
    }
  /** It lets nobody in: all its connections are taken. It works for those who are in. */
  | { readonly state: 'full' }
  | { readonly state: 'unknown'; readonly why: string };

/** SQLSTATE `too_many_connections`: PostgreSQL's documentation, Appendix A. */
const tooManyConnections = '53300';

/** `address`: of a member whose PostgreSQL runs. */
export async function observeServer(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
): Promise<ServerSeen> {
  try {
    const target = await session(cluster, address, io);
    const { marked, ...seen } = await withSession(io, target, async (connection, shown) => {
      const facts = await askOne(connection, serverQuestion);
      const names = parameterNames(cluster.spec);
      const settings = names.length === 0 ? [] : await ask(connection, settingsQuestion(names));
      const reordered = facts.inRecovery ? undefined : await reorderedIn(connection);
      const isAsked = shown !== undefined && hasSource(cluster);
      const more = { ...(reordered === undefined ? {} : { reordered }), ...(isAsked ? { shown } : {}) };
      const marked = facts.inRecovery ? [] : await ask(connection, markedQuestion);
      return { state: 'seen', facts, settings, ...more, marked } as const;
    });
    const found = await Promise.all(marked.map(({ name }) => invalidIn(target, name, io)));
    const more = (marked[0]?.all ?? 0) - marked.length;
    const unasked = `those of ${more} more databases that are marked by ${invalidIndexSetting}: RESET it in those that are repaired`;
    const invalid = [...found.flatMap((words) => words ?? []), ...(more > 0 ? [unasked] : [])].join('; ');
    return invalid === '' ? seen : { ...seen, invalid };
  } catch (error) {
    io.signal.throwIfAborted();
    if (error instanceof ServerError && error.code === tooManyConnections) return { state: 'full' };
    return { state: 'unknown', why: (error as Error).message };
  }
}

/** A server that cannot open a collation does not say. */
async function reorderedIn(connection: PostgresConnection): Promise<string | undefined> {
  try {
    return (await askOne(connection, reorderedQuestion)).reordered;
  } catch (error) {
    if (error instanceof ServerError) return undefined;
    throw error;
  }
}

/** In words. What cannot be looked into may still have such indexes. */
async function invalidIn(target: SessionTarget, database: string, io: EngineContext): Promise<string | undefined> {
  const login = { ...target.login, database, settings: { ...target.login.settings, role: 'none' } };
  try {
    const { invalid } = await withSession(io, { ...target, login }, (connection) =>
      askOne(connection, invalidIndexesQuestion),
    );
    return invalid === undefined ? undefined : `${invalid} of database ${database}`;
  } catch (error) {
    io.signal.throwIfAborted();
    return `those of database ${database}, which does not let the operator in (${shortened((error as Error).message, 80)})`;
  }
}

/** Where the log begins that the primary still has; undefined where it does not say. */
export async function observeLog(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
): Promise<number | undefined> {
  try {
    const { oldest } = await withSession(io, await session(cluster, address, io), (connection) =>
      askOne(connection, logQuestion),
    );
    return oldest;
  } catch {
    io.signal.throwIfAborted();
    return undefined;
  }
}

async function session(cluster: Cluster<PostgresSpec>, address: string, io: EngineContext) {
  const target = await operatorSession(cluster, address, io);
  return { ...target, login: { ...target.login, settings: readOnly } };
}
