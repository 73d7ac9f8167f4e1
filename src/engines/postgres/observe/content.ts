/** How a database or a user of a cluster is asked about: of the primary, as the operator's role. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { PostgresConnection } from '../client/connection.ts';
import { operatorSession } from '../client/credentials.ts';
import { askOne, boolean, question } from '../client/question.ts';
import { readOnly, type SessionTarget, withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';

/** Nothing was learned. */
export interface Unreachable {
  readonly state: 'unreachable';
  readonly why: string;
}

/**
 * As its status says. It may have moved since: the member that is asked says whether it takes writes, and shows a certificate of this cluster.
 */
export function primaryAddress({ status }: Cluster): string | undefined {
  return status?.members?.find(({ name }) => name === status.primary)?.address;
}

/** Whatever the owner of a database has set for sessions in it. */
const fixed = { role: 'none', standard_conforming_strings: 'on', default_transaction_read_only: 'off' } as const;

export async function contentSession(
  target: Cluster<PostgresSpec>,
  address: string,
  database: string,
  io: EngineContext,
): Promise<SessionTarget> {
  const session = await operatorSession(target, address, io);
  return { ...session, login: { ...session.login, database, settings: fixed } };
}

/** Where nobody could be asked, an error is that. */
export async function askPrimary<T extends object>(
  target: Cluster<PostgresSpec>,
  io: EngineContext,
  look: (
    ask: <Answer>(database: string, talk: (connection: PostgresConnection) => Promise<Answer>) => Promise<Answer>,
    address: string,
  ) => Promise<T>,
  timeoutMs?: number,
): Promise<T | Unreachable> {
  const { metadata } = target;
  const address = primaryAddress(target);
  if (address === undefined) return { state: 'unreachable', why: `PostgresCluster ${metadata.name} has no primary` };
  try {
    return await look(async (database, talk) => {
      const session = await contentSession(target, address, database, io);
      const login = { ...session.login, settings: { ...session.login.settings, ...readOnly } };
      return await withSession(
        io,
        { ...session, login, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
        async (connection) => {
          const { isStandby } = await askOne(connection, standbyQuestion);
          if (isStandby) throw new Error(`${target.status?.primary} is not the primary any more`);
          return await talk(connection);
        },
      );
    }, address);
  } catch (error) {
    io.signal.throwIfAborted();
    return { state: 'unreachable', why: (error as Error).message };
  }
}

const standbyQuestion = question<{ readonly isStandby: boolean }>('SELECT pg_is_in_recovery() AS "isStandby"', {
  isStandby: boolean,
});
