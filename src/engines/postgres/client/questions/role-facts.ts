/** What is known of one role: its attributes, its memberships, and the privileges that it was given on databases. */
import { boolean, type Column, integer, optional, question, text } from '../question.ts';
import { literal, textArray } from '../quoting.ts';

export interface RoleFacts {
  readonly exists: boolean;
  readonly isSuperuser: boolean;
  readonly login: boolean;
  readonly createDatabase: boolean;
  readonly inherit: boolean;
  readonly connectionLimit: number;
  /** Seconds since the epoch; undefined where the password is valid for ever. */
  readonly validUntil: number | undefined;
  readonly madeFor: string | undefined;
  /** Whether the operator may act as the role. */
  readonly mayActAs: boolean;
  /** See `powerOf`. */
  readonly power: string | undefined;
}

/**
 * Members of these run programs, read and write files as the server's process, read everything, also the verifiers of passwords, or write
 * every table of every user. The last one may read files as well, for `pg_rewind`.
 */
const powers = [
  'pg_execute_server_program',
  'pg_read_server_files',
  'pg_write_server_files',
  'pg_read_all_data',
  'pg_write_all_data',
  'rewinder',
] as const;

/**
 * Name of a role through which the role with this oid has more than a resource gives: itself, or one that it is a member of, directly or
 * not. Attributes count, too: a member can use them with SET ROLE. Null where there is none.
 */
export const powerOf = (oid: string): string =>
  `(SELECT p.rolname::text FROM pg_roles p
    WHERE (p.rolsuper OR p.rolcreaterole OR p.rolreplication OR p.rolbypassrls OR p.rolname::text = ANY (${textArray(powers)})
      OR p.rolname ~* '^clusterwright') AND pg_has_role(${oid}, p.oid, 'MEMBER') ORDER BY p.oid <> ${oid}, p.rolname LIMIT 1)`;

/** `mark`: a pattern with one group, of a comment. */
export const roleFactsQuestion = (name: string, mark: string) =>
  question<RoleFacts>(
    `SELECT r.oid IS NOT NULL AS exists, coalesce(r.rolsuper, false) AS "isSuperuser",
  coalesce(r.rolcanlogin, false) AS login, coalesce(r.rolcreatedb, false) AS "createDatabase",
  coalesce(r.rolinherit, true) AS inherit, coalesce(r.rolconnlimit, -1) AS "connectionLimit",
  CASE WHEN isfinite(r.rolvaliduntil) THEN floor(extract(epoch FROM r.rolvaliduntil))::bigint END AS "validUntil",
  left(substring(shobj_description(r.oid, 'pg_authid') FROM ${literal(mark)}), 64) AS "madeFor",
  coalesce(pg_has_role(r.oid, 'USAGE') AND pg_has_role(r.oid, 'MEMBER'), false) AS "mayActAs",
  ${powerOf('r.oid')} AS power
FROM (SELECT) AS one LEFT JOIN pg_roles r ON r.rolname = ${literal(name)}`,
    {
      exists: boolean,
      isSuperuser: boolean,
      login: boolean,
      createDatabase: boolean,
      inherit: boolean,
      connectionLimit: integer,
      validUntil: optional(integer),
      madeFor: optional(text),
      mayActAs: boolean,
      power: optional(text),
    },
  );

export interface Membership {
  readonly role: string;
  readonly exists: boolean;
  /** Whether it is a member, by any grantor. */
  readonly isMember: boolean;
  /** Granted by the operator, which alone it revokes. */
  readonly isOurs: boolean;
  /** Whether the membership gives privileges without SET ROLE; undefined before PostgreSQL 16, where the role alone decides that. */
  readonly inherits: boolean | undefined;
  /** See `powerOf`. Before PostgreSQL 16, CREATEROLE lets the operator grant every role that is no superuser. */
  readonly power: string | undefined;
}

/** Of these roles, and of all others that the operator has made `name` a member of. */
export const membershipsQuestion = (name: string, wanted: readonly string[]) =>
  question<Membership>(
    `SELECT w.role, r.oid IS NOT NULL AS exists, m.oid IS NOT NULL AS "isMember", coalesce(m.ours, false) AS "isOurs", m.inherits,
  ${powerOf('r.oid')} AS power
FROM (SELECT unnest(${textArray(wanted)}) AS role UNION SELECT g.rolname::text FROM pg_auth_members a
    JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles u ON u.oid = a.member JOIN pg_roles o ON o.oid = a.grantor
    WHERE u.rolname = ${literal(name)} AND o.rolname = current_user) AS w
  LEFT JOIN pg_roles r ON r.rolname = w.role
  LEFT JOIN (SELECT a.roleid AS oid, bool_or(o.rolname = current_user) AS ours,
    bool_or((to_jsonb(a) ->> 'inherit_option')::boolean) FILTER (WHERE o.rolname = current_user) AS inherits FROM pg_auth_members a
    JOIN pg_roles u ON u.oid = a.member LEFT JOIN pg_roles o ON o.oid = a.grantor
    WHERE u.rolname = ${literal(name)} GROUP BY a.roleid) AS m ON m.oid = r.oid
ORDER BY w.role LIMIT 200`,
    {
      role: text,
      exists: boolean,
      isMember: boolean,
      isOurs: boolean,
      inherits: optional(boolean),
      power: optional(text),
    },
  );

/** Privileges as PostgreSQL calls them, in the alphabet's order. */
export const privilegeList: Column<readonly string[]> = (value) => {
  const list = text(value);
  return list === '' ? [] : list.split(',');
};

export interface DatabasePrivileges {
  readonly database: string;
  readonly exists: boolean;
  /** The owner has all of them anyway. */
  readonly isOwner: boolean;
  readonly owner: string | undefined;
  /** Whether the operator may act as the owner. */
  readonly usable: boolean;
  /** Of the owner: see `powerOf`. */
  readonly ownerPower: string | undefined;
  readonly allowsConnections: boolean;
  readonly privileges: readonly string[];
}

/** Of these databases, and of all others that `name` was given a privilege on. */
export const databasePrivilegesQuestion = (name: string, wanted: readonly string[]) =>
  question<DatabasePrivileges>(
    `SELECT w.database, d.oid IS NOT NULL AS exists, coalesce(o.rolname = ${literal(name)}, false) AS "isOwner",
  o.rolname AS owner, coalesce(pg_has_role(o.oid, 'USAGE'), false) AS usable, coalesce(d.datallowconn, false) AS "allowsConnections",
  ${powerOf('o.oid')} AS "ownerPower",
  coalesce((SELECT string_agg(DISTINCT a.privilege_type, ',' ORDER BY a.privilege_type) FROM aclexplode(d.datacl) a
    JOIN pg_roles g ON g.oid = a.grantee WHERE g.rolname = ${literal(name)}), '') AS privileges
FROM (SELECT unnest(${textArray(wanted)}) AS database UNION SELECT x.datname::text FROM pg_database x, aclexplode(x.datacl) a
    JOIN pg_roles g ON g.oid = a.grantee WHERE g.rolname = ${literal(name)}) AS w
  LEFT JOIN pg_database d ON d.datname = w.database
  LEFT JOIN pg_roles o ON o.oid = d.datdba
ORDER BY w.database LIMIT 64`,
    {
      database: text,
      exists: boolean,
      isOwner: boolean,
      owner: optional(text),
      usable: boolean,
      ownerPower: optional(text),
      allowsConnections: boolean,
      privileges: privilegeList,
    },
  );
