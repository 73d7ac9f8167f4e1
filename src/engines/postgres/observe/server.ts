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
  type Marked,
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
import { noLessThanPrimary } from '../resources/start-values.ts';

/** In words. At least one of them. */
export interface InvalidIndexes {
  /** Those that should enforce something and do not, with their databases. */
  readonly invalid?: string;
  /** Databases that may have such indexes, and why nobody knows. */
  readonly unseen?: string;
}

export type ServerSeen =
  | {
      readonly state: 'seen';
      readonly facts: ServerFacts;
      readonly settings: readonly SettingSeen[];
      /** Fingerprint of the certificate that it shows. Only where the spec names the source of it. */
      readonly shown?: string;
      /** Databases in which this server sorts in another way than their indexes do. Asked of a primary. */
      readonly reordered?: string;
      /** Asked of a primary; absent where all indexes are valid. */
      readonly indexes?: InvalidIndexes;
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
      const names = new Set([...parameterNames(cluster.spec), ...Object.keys(noLessThanPrimary)]);
      const settings = await ask(connection, settingsQuestion([...names]));
      const reordered = facts.inRecovery ? undefined : await reorderedIn(connection);
      const isAsked = shown !== undefined && hasSource(cluster);
      const more = { ...(reordered === undefined ? {} : { reordered }), ...(isAsked ? { shown } : {}) };
      const marked = facts.inRecovery ? [] : await ask(connection, markedQuestion);
      return { state: 'seen', facts, settings, ...more, marked } as const;
    });
    const indexes = await invalidIndexes(target, marked, io);
    return indexes === undefined ? seen : { ...seen, indexes };
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

/** One database after the other: the server is to have few connections of ours. */
async function invalidIndexes(
  target: SessionTarget,
  marked: readonly Marked[],
  io: EngineContext,
): Promise<InvalidIndexes | undefined> {
  const [found, unseen]: [string[], string[]] = [[], []];
  for (const { name } of marked) {
    const login = { ...target.login, database: name, settings: { ...target.login.settings, role: 'none' } };
    try {
      const { invalid } = await withSession(io, { ...target, login }, (connection) =>
        askOne(connection, invalidIndexesQuestion),
      );
      if (invalid !== undefined) found.push(`${invalid} of database ${name}`);
    } catch (error) {
      io.signal.throwIfAborted();
      unseen.push(`database ${name} (${shortened((error as Error).message, 80)})`);
    }
  }
  const more = (marked[0]?.all ?? 0) - marked.length;
  if (more > 0) unseen.push(`${more} more databases with the setting ${invalidIndexSetting}`);
  if (found.length + unseen.length === 0) return undefined;
  return {
    ...(found.length === 0 ? {} : { invalid: found.join('; ') }),
    ...(unseen.length === 0 ? {} : { unseen: unseen.join('; ') }),
  };
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
