/**
 * Privileges of a role inside the databases, brought to what is wanted: pure. `wanted` empty takes all of them away. What is granted
 * is granted by the owner of the object, for whom the operator acts.
 */

import { type Outcome, wait } from '../../../plan/plan.ts';
import {
  type DefaultPrivileges,
  type RelationKind,
  relationKinds,
  relationsSql,
  type SchemaPrivileges,
} from '../client/questions/privileges.ts';
import { literal, quoted, textArray } from '../client/quoting.ts';
import {
  databasePrivileges,
  schemaPrivileges,
  sequencePrivileges,
  tablePrivileges,
  type UserSpec,
} from '../kind/user.ts';
import type { InsidePrivileges } from '../observe/user.ts';
import { recheckMs, type Statement } from './content.ts';
import { tooPowerful } from './refused-role.ts';

export type Grant = NonNullable<UserSpec['grants']>[number];
type SchemaGrant = Grant['schemas'][number];

const known: Readonly<Record<RelationKind, readonly string[]>> = {
  tables: tablePrivileges,
  sequences: sequencePrivileges,
};

/** What is inside goes first, so that where nothing is left on the database itself, nothing is left at all. */
export function privilegeStatements(
  role: string,
  found: readonly InsidePrivileges[],
  wanted: readonly Grant[],
): Statement[] {
  return found.flatMap((database) => {
    if (!database.exists || database.problem !== undefined || isOwnerRefused(database)) return [];
    const grant = wanted.find((each) => each.database === database.database);
    return [
      ...membership(database),
      ...insideStatements(role, database, grant),
      ...onDatabase(role, database, grant?.privileges ?? []),
    ];
  });
}

/** Why a grant cannot be made, of what has to be there first. */
export function missingObjects(found: readonly InsidePrivileges[], wanted: readonly Grant[]): string | undefined {
  for (const { database, schemas } of wanted) {
    const there = found.find((each) => each.database === database);
    if (there?.exists !== true) return `there is no database ${database}; a PostgresDatabase can create it`;
    const lacking = schemas.find(({ name }) => there.schemas.find(({ schema }) => schema === name)?.exists === false);
    if (lacking !== undefined) return `there is no schema ${lacking.name} in database ${database}`;
  }
  return undefined;
}

/** The operator would make itself a member of a role that could take over the server. */
function isOwnerRefused({ usable, ownerPower }: InsidePrivileges): boolean {
  return !usable && ownerPower !== undefined;
}

export function refusedOwner(found: readonly InsidePrivileges[]): Outcome | undefined {
  const refused = found.find(isOwnerRefused);
  if (refused?.ownerPower === undefined || refused.owner === undefined) return undefined;
  const words = `it owns database ${refused.database}, and the operator does not make itself a member of it to grant or revoke there`;
  return tooPowerful('OwnerRefused', refused.owner, refused.ownerPower, words);
}

/** A database that nothing is known of: what is granted there stays as it is. */
export function closedDatabase(found: readonly InsidePrivileges[]): Outcome | undefined {
  const closed = found.find(({ problem }) => problem !== undefined);
  if (closed === undefined) return undefined;
  return wait('NotObserved', `privileges in database ${closed.database} are not known: ${closed.problem}`, recheckMs);
}

/** Tables of owners for whom the operator cannot act. */
export function foreignRelations(found: readonly InsidePrivileges[]): readonly string[] {
  return found.flatMap(({ database, schemas }) =>
    schemas.flatMap(({ schema, tables, sequences }) =>
      [tables, sequences].flatMap(({ foreign, example }) =>
        foreign === 0
          ? []
          : [
              `privileges on ${foreign} relation(s) of schema ${schema} in database ${database}, such as ${example}, are missing: the operator cannot act for the owner`,
            ],
      ),
    ),
  );
}

function membership({ database, owner, usable }: InsidePrivileges): Statement[] {
  if (usable || owner === undefined) return [];
  const summary = `make the operator's role a member of role ${owner}, which owns database ${database}`;
  return [{ summary, database: 'postgres', sql: `GRANT ${quoted(owner)} TO CURRENT_USER` }];
}

function differences(has: readonly string[], wanted: readonly string[], all: readonly string[]) {
  return {
    missing: wanted.filter((privilege) => !has.includes(privilege)),
    surplus: has.filter((privilege) => all.includes(privilege) && !wanted.includes(privilege)),
  };
}

/** `on`: `DATABASE "shop"`. */
function both(
  role: string,
  where: { readonly database: string; readonly on: string; readonly words: string; readonly prefix?: string },
  { missing, surplus }: ReturnType<typeof differences>,
): Statement[] {
  const { database, on, words, prefix = '' } = where;
  const to = quoted(role);
  return [
    ...(missing.length === 0
      ? []
      : [
          {
            summary: `grant ${missing.join(', ')} on ${words} to ${role}`,
            database,
            sql: `${prefix}GRANT ${missing.join(', ')} ON ${on} TO ${to}`,
          },
        ]),
    ...(surplus.length === 0
      ? []
      : [
          {
            summary: `revoke ${surplus.join(', ')} on ${words} from ${role}`,
            database,
            sql: `${prefix}REVOKE ${surplus.join(', ')} ON ${on} FROM ${to}`,
          },
        ]),
  ];
}

function onDatabase(
  role: string,
  { database, isOwner, privileges }: InsidePrivileges,
  wanted: readonly string[],
): Statement[] {
  if (isOwner) return [];
  const where = { database: 'postgres', on: `DATABASE ${quoted(database)}`, words: `database ${database}` };
  return both(role, where, differences(privileges, wanted, databasePrivileges));
}

function insideStatements(role: string, found: InsidePrivileges, grant: Grant | undefined): Statement[] {
  return found.schemas.flatMap((seen) => {
    if (!seen.exists) return [];
    const wanted = grant?.schemas.find(({ name }) => name === seen.schema);
    return [
      ...onSchema(role, found.database, seen, wanted),
      ...onRelations(role, found.database, seen, 'tables', wanted?.tables ?? []),
      ...onRelations(role, found.database, seen, 'sequences', wanted?.sequences ?? []),
      ...onLater(role, found, seen.schema, 'tables', wanted),
      ...onLater(role, found, seen.schema, 'sequences', wanted),
    ];
  });
}

function onSchema(
  role: string,
  database: string,
  seen: SchemaPrivileges,
  wanted: SchemaGrant | undefined,
): Statement[] {
  if (seen.isOwner) return [];
  const where = {
    database,
    on: `SCHEMA ${quoted(seen.schema)}`,
    words: `schema ${seen.schema} of database ${database}`,
  };
  return both(role, where, differences(seen.privileges, wanted?.privileges ?? [], schemaPrivileges));
}

/** One block for all of them: there may be thousands. */
function onRelations(
  role: string,
  database: string,
  { schema, tables, sequences }: SchemaPrivileges,
  kind: RelationKind,
  wanted: readonly string[],
): Statement[] {
  const { missing, surplus } = kind === 'tables' ? tables : sequences;
  if (missing + surplus === 0) return [];
  const { object } = relationKinds[kind];
  const names = `${literal(schema)}, r.relname, ${literal(role)}`;
  const grant =
    wanted.length === 0
      ? ''
      : `IF NOT ${textArray(wanted)} <@ r.held THEN
    EXECUTE format('GRANT ${wanted.join(', ')} ON ${object} %I.%I TO %I', ${names}); END IF;`;
  const body = `DECLARE r record; excess text; BEGIN
  FOR r IN ${relationsSql(role, schema, kind)} LOOP
    IF NOT r.usable THEN CONTINUE; END IF;
    ${grant}
    SELECT string_agg(p, ', ') INTO excess FROM unnest(r.held) AS h (p)
      WHERE p = ANY (${textArray(known[kind])}) AND p <> ALL (${textArray(wanted)});
    IF excess IS NOT NULL THEN
      EXECUTE format('REVOKE ' || excess || ' ON ${object} %I.%I FROM %I', ${names}); END IF;
  END LOOP; END`;
  const words = [
    ...(missing === 0
      ? []
      : [
          `grant ${wanted.join(', ')} on ${missing} of the ${kind} in schema ${schema} of database ${database} to ${role}`,
        ]),
    ...(surplus === 0
      ? []
      : [
          `revoke other privileges on ${surplus} of the ${kind} in schema ${schema} of database ${database} from ${role}`,
        ]),
  ];
  return [{ summary: words.join(', and '), database, sql: `DO ${literal(body)}` }];
}

/** Default privileges: of each role that creates, and of those that no longer count. */
function onLater(
  role: string,
  { database, owner, defaults }: InsidePrivileges,
  schema: string,
  kind: RelationKind,
  wanted: SchemaGrant | undefined,
): Statement[] {
  const list = wanted?.[kind] ?? [];
  const creators =
    wanted === undefined || list.length === 0 ? [] : wanted.createdBy.length > 0 ? wanted.createdBy : [owner ?? ''];
  const isThis = (each: DefaultPrivileges): boolean =>
    each.schema === schema && each.kind === relationKinds[kind].defaults;
  const found = defaults.filter(isThis);
  const all = [...new Set([...creators, ...found.map(({ creator }) => creator)])].filter(
    (name) => name !== '' && name !== role,
  );
  return all.flatMap((creator) => {
    const has = found.find((each) => each.creator === creator)?.privileges ?? [];
    const where = {
      database,
      on: kind.toUpperCase(),
      words: `${kind} that ${creator} creates later in schema ${schema} of database ${database}`,
      prefix: `ALTER DEFAULT PRIVILEGES FOR ROLE ${quoted(creator)} IN SCHEMA ${quoted(schema)} `,
    };
    return both(role, where, differences(has, creators.includes(creator) ? list : [], known[kind]));
  });
}
