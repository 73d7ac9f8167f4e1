/** The first database, its owner, and the owner's password: what is there, and how it comes to be. As the operator's role, which is no superuser. */
import type { PostgresConnection } from './connection.ts';
import { boolean, optional, question, text } from './question.ts';

export interface ApplicationFacts {
  readonly hasOwner: boolean;
  /** Who owns the database; undefined where there is no database. */
  readonly owner: string | undefined;
}

/** Names are of the schema of the kind: lower case, no quotes. */
const literal = (name: string): string => `'${name.replaceAll("'", "''")}'`;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const applicationQuestion = (database: string, owner: string) =>
  question<ApplicationFacts>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${literal(owner)}) AS "hasOwner",
  (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = ${literal(database)}) AS owner`,
    { hasOwner: boolean, owner: optional(text) },
  );

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

export interface Application {
  readonly database: string;
  readonly owner: string;
  readonly verifier: string;
  readonly hasOwner: boolean;
  readonly hasDatabase: boolean;
}
