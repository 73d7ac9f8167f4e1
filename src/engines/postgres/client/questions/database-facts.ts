/** What is known of one database, from outside of it and from within: for a PostgresDatabase. */
import { boolean, integer, optional, question, text } from '../question.ts';
import { literal, textArray } from '../quoting.ts';
import { powerOf } from './role-facts.ts';

/** Asked in any database. */
export interface DatabaseFacts {
  readonly exists: boolean;
  /** One of the name that it has until it is complete. */
  readonly isBegun: boolean;
  readonly owner: string | undefined;
  readonly connectionLimit: number | undefined;
  readonly encoding: string | undefined;
  readonly locale: string | undefined;
  /** The resource in whose mark it was created. */
  readonly madeFor: string | undefined;
  readonly hasOwner: boolean;
  readonly isOwnerSuperuser: boolean;
  /** Whether the operator may act as the owner that is wanted. */
  readonly mayActAsOwner: boolean;
  /** Of the owner that is wanted: see `powerOf`. */
  readonly ownerPower: string | undefined;
}

/** `mark`: a pattern with one group, of a comment. */
export const databaseFactsQuestion = (name: string, begun: string, owner: string, mark: string) =>
  question<DatabaseFacts>(
    `SELECT d.oid IS NOT NULL AS exists,
  EXISTS (SELECT FROM pg_database WHERE datname = ${literal(begun)}) AS "isBegun",
  pg_get_userbyid(d.datdba) AS owner, d.datconnlimit AS "connectionLimit",
  pg_encoding_to_char(d.encoding) AS encoding, left(d.datcollate, 64) AS locale,
  left(substring(shobj_description(d.oid, 'pg_database') FROM ${literal(mark)}), 64) AS "madeFor",
  r.oid IS NOT NULL AS "hasOwner", coalesce(r.rolsuper, false) AS "isOwnerSuperuser",
  coalesce(pg_has_role(r.oid, 'USAGE') AND pg_has_role(r.oid, 'MEMBER'), false) AS "mayActAsOwner",
  ${powerOf('r.oid')} AS "ownerPower"
FROM (SELECT) AS one
  LEFT JOIN pg_database d ON d.datname = ${literal(name)}
  LEFT JOIN pg_roles r ON r.rolname = ${literal(owner)}`,
    {
      exists: boolean,
      isBegun: boolean,
      owner: optional(text),
      connectionLimit: optional(integer),
      encoding: optional(text),
      locale: optional(text),
      madeFor: optional(text),
      hasOwner: boolean,
      isOwnerSuperuser: boolean,
      mayActAsOwner: boolean,
      ownerPower: optional(text),
    },
  );

export interface ExtensionFacts {
  readonly name: string;
  readonly version: string;
  readonly schema: string;
}

/** Asked in the database itself, of these names. */
export const extensionsQuestion = (names: readonly string[]) =>
  question<ExtensionFacts>(
    `SELECT e.extname AS name, left(e.extversion, 64) AS version, n.nspname AS schema
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname::text = ANY (${textArray(names)}) LIMIT 64`,
    { name: text, version: text, schema: text },
  );

export interface SchemaFacts {
  readonly name: string;
  readonly owner: string;
}

/** Asked in the database itself, of these names. */
export const schemasQuestion = (names: readonly string[]) =>
  question<SchemaFacts>(
    `SELECT nspname AS name, pg_get_userbyid(nspowner) AS owner
FROM pg_namespace WHERE nspname::text = ANY (${textArray(names)}) LIMIT 64`,
    { name: text, owner: text },
  );
