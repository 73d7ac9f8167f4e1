/**
 * Databases that a logical import fills. Each is of one attempt and has a name of its own, so that a Job of an earlier attempt cannot write to
 * it. One that is whole becomes the first database by a new name, in one transaction. As the operator's role, which is no superuser.
 */
import { copiedMark, stagingPrefix } from '../names.ts';
import { filled } from './application.ts';
import type { PostgresConnection } from './connection.ts';
import { optional, question, text } from './question.ts';
import { literal, quoted } from './quoting.ts';

export interface StagingFacts {
  readonly database: string;
  /** What was copied, in words. Undefined while the copy is not whole. */
  readonly copied: string | undefined;
}

const mostDatabases = 20;
const mostWords = 300;

export const stagingQuestion = question<StagingFacts>(
  `SELECT datname AS database, CASE WHEN starts_with(said, ${literal(copiedMark)})
    THEN left(ltrim(substr(said, ${copiedMark.length + 1})), ${mostWords}) END AS copied
FROM pg_database d, LATERAL (SELECT coalesce(shobj_description(d.oid, 'pg_database'), '') AS said) AS comment
WHERE starts_with(datname, ${literal(stagingPrefix)}) ORDER BY datname LIMIT ${mostDatabases}`,
  { database: text, copied: optional(text) },
);

export async function changeStaging(
  connection: PostgresConnection,
  change: 'create' | 'drop' | 'publish',
  staging: string,
  { database, owner }: { readonly database: string; readonly owner: string },
): Promise<void> {
  if (!staging.startsWith(stagingPrefix)) throw new Error(`${staging} is no database of an import`);
  switch (change) {
    case 'create':
      // PostgreSQL lets only a member of a role give a database to it.
      await connection.query(`GRANT ${quoted(owner)} TO CURRENT_USER`);
      await connection.query(`CREATE DATABASE ${quoted(staging)} OWNER ${quoted(owner)}`);
      return;
    case 'drop':
      await connection.query(`DROP DATABASE IF EXISTS ${quoted(staging)} WITH (FORCE)`);
      return;
    case 'publish':
      await connection.query(
        [
          `ALTER DATABASE ${quoted(staging)} RENAME TO ${quoted(database)}`,
          `COMMENT ON DATABASE ${quoted(database)} IS NULL`,
          filled(owner),
        ].join(';\n'),
      );
      return;
    default:
      change satisfies never;
  }
}
