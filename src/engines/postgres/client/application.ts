/** The first database, its owner, and the owner's password: what is there, and how it comes to be. As the operator's role, which is no superuser. */
import { filledMark } from '../names.ts';
import type { PostgresConnection } from './connection.ts';
import { boolean, optional, question, text } from './question.ts';
import { literal, quoted } from './quoting.ts';

export interface ApplicationFacts {
  readonly hasOwner: boolean;
  /** Who owns the database; undefined where there is no database. */
  readonly owner: string | undefined;
}

export const applicationQuestion = (database: string, owner: string) =>
  question<ApplicationFacts>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${literal(owner)}) AS "hasOwner",
  (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = ${literal(database)}) AS owner`,
    { hasOwner: boolean, owner: optional(text) },
  );

/** Whether a comment of the database contains a text. */
export const commentQuestion = (database: string, mark: string) =>
  question<{ readonly isMarked: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_database WHERE datname = ${literal(database)}
  AND position(${literal(mark)} IN coalesce(shobj_description(oid, 'pg_database'), '')) > 0) AS "isMarked"`,
    { isMarked: boolean },
  );

/** Whether the first database has its content: see `filledMark`. */
export const filledQuestion = (owner: string) =>
  question<{ readonly isFilled: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${literal(owner)}
  AND starts_with(coalesce(shobj_description(oid, 'pg_authid'), ''), ${literal(filledMark)})) AS "isFilled"`,
    { isFilled: boolean },
  );

export function filled(owner: string): string {
  return `COMMENT ON ROLE ${quoted(owner)} IS ${literal(filledMark)}`;
}

/** What is there already is left as it is. `verifier`: never the password itself. */
export async function makeApplication(
  connection: PostgresConnection,
  { database, owner, verifier, hasOwner, hasDatabase }: Application,
): Promise<void> {
  if (hasOwner) await connection.query(`ALTER ROLE ${quoted(owner)} PASSWORD ${literal(verifier)}`);
  else await connection.query(`CREATE ROLE ${quoted(owner)} LOGIN PASSWORD ${literal(verifier)}`);
  if (hasDatabase) return;
  // PostgreSQL lets only a member of a role give a database to it.
  await connection.query(`GRANT ${quoted(owner)} TO CURRENT_USER`);
  await connection.query(`CREATE DATABASE ${quoted(database)} OWNER ${quoted(owner)}`);
}

/** `verifier`: never the password itself. */
export async function setPassword(connection: PostgresConnection, role: string, verifier: string): Promise<void> {
  await connection.query(`ALTER ROLE ${quoted(role)} PASSWORD ${literal(verifier)}`);
}

export interface Application {
  readonly database: string;
  readonly owner: string;
  readonly verifier: string;
  readonly hasOwner: boolean;
  readonly hasDatabase: boolean;
}
