/**
 * Privileges that one role was given inside a database: on schemas, on their tables and sequences, and on those that are created
 * later. Asked in the database itself. Objects of extensions are left out, and so is what the role owns.
 */
import { boolean, integer, optional, question, text } from '../question.ts';
import { literal, textArray } from '../quoting.ts';
import { privilegeList } from './role-facts.ts';

export interface Wanted {
  readonly schema: string;
  readonly tables: readonly string[];
  readonly sequences: readonly string[];
}

export const relationKinds = {
  tables: { kinds: ['r', 'p', 'v', 'm', 'f'], object: 'TABLE', defaults: 'r' },
  sequences: { kinds: ['S'], object: 'SEQUENCE', defaults: 'S' },
} as const;
export type RelationKind = keyof typeof relationKinds;

/** What a relation's row says of the privileges of `name`; aliases `c` of pg_class and `g` of the role. */
const held = `ARRAY(SELECT a.privilege_type FROM aclexplode(c.relacl) a WHERE a.grantee = g.oid)`;
const isOfExtension = `EXISTS (SELECT FROM pg_depend p WHERE p.classid = 'pg_class'::regclass AND p.objid = c.oid AND p.deptype = 'e')`;

/** Relations of one kind in one schema, with what the role holds on each. */
export function relationsSql(name: string, schema: string, kind: RelationKind): string {
  const { kinds } = relationKinds[kind];
  return `SELECT c.relname, pg_has_role(c.relowner, 'USAGE') AS usable, ${held} AS held
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles g ON g.rolname = ${literal(name)}
WHERE n.nspname = ${literal(schema)} AND c.relkind::text = ANY (${textArray(kinds)}) AND c.relowner <> g.oid AND NOT ${isOfExtension}`;
}

/** Privileges that we know of a kind: what later versions add is left alone. */
export interface SchemaPrivileges {
  readonly schema: string;
  readonly exists: boolean;
  readonly isOwner: boolean;
  /** Whether the operator may act as the owner of the schema. */
  readonly usable: boolean;
  readonly privileges: readonly string[];
  readonly tables: Relations;
  readonly sequences: Relations;
}

/** Numbers of relations. */
export interface Relations {
  /** Lack a privilege. */
  readonly missing: number;
  /** Have one too many. */
  readonly surplus: number;
  /** Lack one, and the operator cannot act as their owner. */
  readonly foreign: number;
  /** One of these. */
  readonly example: string | undefined;
}

interface Row {
  readonly schema: string;
  readonly exists: boolean;
  readonly isOwner: boolean;
  readonly usable: boolean;
  readonly privileges: readonly string[];
}

/** Schemas that are named, and all others that the role was given a privilege on. */
export const schemaPrivilegesQuestion = (name: string, schemas: readonly string[]) =>
  question<Row>(
    `SELECT w.schema, n.oid IS NOT NULL AS exists, coalesce(n.nspowner = g.oid, false) AS "isOwner",
  coalesce(pg_has_role(n.nspowner, 'USAGE'), false) AS usable,
  coalesce((SELECT string_agg(DISTINCT a.privilege_type, ',' ORDER BY a.privilege_type)
    FROM aclexplode(n.nspacl) a WHERE a.grantee = g.oid), '') AS privileges
FROM pg_roles g, (SELECT unnest(${textArray(schemas)}) AS schema UNION SELECT x.nspname::text FROM pg_namespace x,
    aclexplode(x.nspacl) a JOIN pg_roles r ON r.oid = a.grantee WHERE r.rolname = ${literal(name)}
    AND x.nspname !~ '^pg_' AND x.nspname <> 'information_schema') AS w
  LEFT JOIN pg_namespace n ON n.nspname = w.schema
WHERE g.rolname = ${literal(name)} ORDER BY w.schema LIMIT 64`,
    { schema: text, exists: boolean, isOwner: boolean, usable: boolean, privileges: privilegeList },
  );

/** `known`: of this kind, whatever the server knows besides. */
export const relationsQuestion = (
  name: string,
  schema: string,
  kind: RelationKind,
  wanted: readonly string[],
  known: readonly string[],
) =>
  question<Relations>(
    `SELECT count(*) FILTER (WHERE usable AND NOT ${textArray(wanted)} <@ held) AS missing,
  count(*) FILTER (WHERE usable AND EXISTS (SELECT FROM unnest(held) AS h (p) WHERE p = ANY (${textArray(known)}) AND p <> ALL (${textArray(wanted)}))) AS surplus,
  count(*) FILTER (WHERE NOT usable AND NOT ${textArray(wanted)} <@ held) AS foreign,
  min(relname::text) FILTER (WHERE NOT usable AND NOT ${textArray(wanted)} <@ held) AS example
FROM (${relationsSql(name, schema, kind)}) AS relations`,
    { missing: integer, surplus: integer, foreign: integer, example: optional(text) },
  );

export interface DefaultPrivileges {
  readonly schema: string;
  readonly creator: string;
  /** Of `pg_default_acl`: `r` for tables, `S` for sequences. */
  readonly kind: string;
  readonly privileges: readonly string[];
}

export const defaultPrivilegesQuestion = (name: string) =>
  question<DefaultPrivileges>(
    `SELECT n.nspname AS schema, o.rolname AS creator, d.defaclobjtype::text AS kind,
  string_agg(DISTINCT a.privilege_type, ',' ORDER BY a.privilege_type) AS privileges
FROM pg_default_acl d JOIN pg_namespace n ON n.oid = d.defaclnamespace JOIN pg_roles o ON o.oid = d.defaclrole,
  aclexplode(d.defaclacl) a JOIN pg_roles g ON g.oid = a.grantee
WHERE g.rolname = ${literal(name)} AND d.defaclobjtype IN ('r', 'S')
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 200`,
    { schema: text, creator: text, kind: text, privileges: privilegeList },
  );
