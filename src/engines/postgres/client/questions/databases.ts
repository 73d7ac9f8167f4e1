/** The databases of a server, and whether their order of texts is still the one that their indexes were built with. */
import { boolean, integer, optional, question, text, word } from '../question.ts';

export interface Reordered {
  /** Names, quoted; undefined where there is none. */
  readonly reordered: string | undefined;
}

/** Databases whose own collation has another version than the one that their indexes were built with. */
export const reorderedQuestion = question<Reordered>(
  `SELECT left(string_agg(quote_ident(datname), ', ' ORDER BY datname), 400) AS reordered FROM pg_database
WHERE datallowconn AND datcollversion <> pg_database_collation_actual_version(oid)`,
  { reordered: optional(text) },
);

/** Of a database in which an upgrade has left indexes invalid: see `upgrade.sh`. */
export const invalidIndexSetting = 'clusterwright.invalid_indexes';
const mostMarked = 5;

export interface Marked {
  readonly name: string;
  /** How many are marked in all. */
  readonly all: number;
}

/** Databases to look into for such indexes. */
export const markedQuestion = question<Marked>(
  `SELECT d.datname AS name, count(*) OVER () AS "all" FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
WHERE s.setrole = 0 AND d.datallowconn AND EXISTS (SELECT FROM unnest(s.setconfig) one WHERE starts_with(one, '${invalidIndexSetting}='))
ORDER BY d.datname LIMIT ${mostMarked}`,
  { name: text, all: integer },
);

export interface Invalid {
  /** Names, quoted; undefined where there is none. */
  readonly invalid: string | undefined;
}

/** Indexes of the database that is asked that enforce something, or name the rows of a publication, and do neither. */
export const invalidIndexesQuestion = question<Invalid>(
  `SELECT left(string_agg(i.indexrelid::regclass::text, ', ' ORDER BY i.indexrelid::regclass::text), 200) AS invalid
FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid
WHERE r.relkind = 'i' AND NOT i.indisvalid AND (i.indisprimary OR i.indisunique OR i.indisexclusion OR i.indisreplident)`,
  { invalid: optional(text) },
);

export interface Database {
  readonly name: string;
  readonly owner: string;
  readonly allowsConnections: boolean;
  readonly bytes: number | undefined;
  /** libc, ICU, or PostgreSQL's own. */
  readonly provider: 'c' | 'i' | 'b' | 'd';
  readonly collation: string;
  /** Undefined where the collation has no versions, as `C` has none. */
  readonly recordedVersion: string | undefined;
  readonly actualVersion: string | undefined;
}

/** Where the versions differ, indexes of texts may be wrong. */
export const databasesQuestion = question<Database>(
  `SELECT datname AS name, pg_get_userbyid(datdba) AS owner, datallowconn AS "allowsConnections",
  pg_database_size(oid) AS bytes, datlocprovider AS provider, left(datcollate, 64) AS collation,
  left(datcollversion, 64) AS "recordedVersion", left(pg_database_collation_actual_version(oid), 64) AS "actualVersion"
FROM pg_database ORDER BY datname LIMIT 200`,
  {
    name: text,
    owner: text,
    allowsConnections: boolean,
    bytes: optional(integer),
    provider: word('c', 'i', 'b', 'd'),
    collation: text,
    recordedVersion: optional(text),
    actualVersion: optional(text),
  },
);
