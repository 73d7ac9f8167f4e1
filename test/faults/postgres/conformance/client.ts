/** What both stages ask by SQL, with the operator's own client. */
import type { EngineContext } from '../../../../src/engine/engine-context.ts';
import type { Question } from '../../../../src/engines/postgres/client/question.ts';
import type { Result } from '../../../../src/engines/postgres/client/rows.ts';
import { ServerError } from '../../../../src/engines/postgres/client/server-error.ts';
import { withSession } from '../../../../src/engines/postgres/client/session.ts';
import { roles, sqlPort } from '../../../../src/engines/postgres/names.ts';
import type { Stage } from './stage.ts';

/** Longer than the operator waits: tests share their machine. */
const answerMs = 10_000;

export interface Client extends Pick<Stage, 'ask' | 'tell' | 'logIn'> {
  /** The answers of the statements, or why there are none. */
  as(
    member: number,
    user: string,
    database: string,
    sql: string,
    timeoutMs?: number,
    password?: string,
  ): Promise<readonly Result[] | string>;
}

export function clientOf(io: Pick<EngineContext, 'dial' | 'sleep'>, address: (member: number) => string): Client {
  const as: Client['as'] = async (member, user, database, sql, timeoutMs = answerMs, password) => {
    const login = {
      user,
      database,
      ...(password === undefined ? {} : { password }),
      settings: { search_path: 'public' },
    };
    const target = { address: address(member), port: sqlPort, login, timeoutMs };
    try {
      return await withSession(io, target, async (connection) => (sql === '' ? [] : await connection.query(sql)));
    } catch (error) {
      return error instanceof ServerError ? error.code : 'no answer';
    }
  };
  return {
    as,
    async ask<Row>(member: number, { sql, rowsIn }: Question<Row>) {
      const outcome = await as(member, roles.operator, 'postgres', sql);
      if (typeof outcome === 'string') return outcome;
      const [result] = outcome;
      return result === undefined ? [] : rowsIn(result);
    },
    async tell(member, sql) {
      const outcome = await as(member, roles.operator, 'postgres', sql);
      return typeof outcome === 'string' ? outcome : 'done';
    },
    async logIn(member, role, database, password) {
      const outcome = await as(member, role, database, '', answerMs, password);
      return typeof outcome === 'string' ? outcome : 'done';
    },
  };
}
