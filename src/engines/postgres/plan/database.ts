/** What a PostgresDatabase needs next: pure. */
import type { ContentSituation } from '../../../engine/content-kind.ts';
import { blocked, type Outcome, settled, wait } from '../../../plan/plan.ts';
import { literal, quoted } from '../client/quoting.ts';
import type { DatabaseSpec } from '../kind/database.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { begunDatabase, contentMark } from '../names.ts';
import type { DatabaseObserved, DatabaseSeen } from '../observe/database.ts';
import { type ContentPlan, notOurs, planWith, recheckMs, runStep, type Statement, unreachable } from './content.ts';
import { reservedName, tooPowerful } from './refused-role.ts';

export type DatabaseSituation = ContentSituation<DatabaseSpec, PostgresSpec, DatabaseObserved>;

export function planDatabase({ resource, observed }: DatabaseSituation): ContentPlan {
  const { spec } = resource;
  const reserved = reservedIn(spec);
  if (reserved !== undefined) return { steps: [], outcome: reserved };
  if (observed.state === 'unreachable') return unreachable(observed.why);
  const { facts } = observed;
  const foreign = notOurs(`database ${spec.name}`, resource, { ...facts, adopt: spec.adopt });
  if (foreign !== undefined) return { steps: [], outcome: blocked('AlreadyExists', foreign, recheckMs * 2) };
  if (spec.adopt && !facts.exists) {
    const message = `there is no database ${spec.name} to adopt; without spec.adopt it is created`;
    return { steps: [], outcome: wait('NothingToAdopt', message, recheckMs * 2) };
  }
  if (!facts.hasOwner) {
    const message = `role ${spec.owner}, the owner, does not exist; a PostgresUser can create it`;
    return { steps: [], outcome: wait('OwnerMissing', message, recheckMs) };
  }
  if (facts.isOwnerSuperuser) {
    const message = `role ${spec.owner}, the owner, is a superuser, and the operator acts for none`;
    return { steps: [], outcome: blocked('OwnerRefused', message, recheckMs * 2) };
  }
  if (facts.ownerPower !== undefined && !facts.mayActAsOwner) {
    const words = 'the operator does not make itself a member of it, to act for it as the owner';
    return { steps: [], outcome: tooPowerful('OwnerRefused', spec.owner, facts.ownerPower, words) };
  }
  const statements = facts.exists ? drift(spec, observed) : creation(resource.metadata, spec, observed);
  return planWith(
    resource,
    [...membership(spec, observed), ...statements].map((each) => runStep(observed.address, each)),
  );
}

function reservedIn({ name, owner, schemas }: DatabaseSpec): Outcome | undefined {
  return reservedName({
    databases: [name],
    roles: [owner, ...schemas.flatMap((schema) => schema.owner ?? [])],
  });
}

/** Who gives a database to a role, or acts for it, has to be a member of it. */
function membership({ owner }: DatabaseSpec, { facts }: DatabaseSeen): Statement[] {
  if (facts.mayActAsOwner) return [];
  const summary = `make the operator's role a member of role ${owner}, for which it acts`;
  return [{ summary, database: 'postgres', sql: `GRANT ${quoted(owner)} TO CURRENT_USER` }];
}

/**
 * It has its own name only once it is marked. So a database of that name without the mark is somebody else's, wherever the operator
 * has ended in between.
 */
function creation(
  { name, uid }: DatabaseSituation['resource']['metadata'],
  spec: DatabaseSpec,
  { facts }: DatabaseSeen,
): Statement[] {
  const begun = begunDatabase(uid);
  const options = [
    `OWNER ${quoted(spec.owner)}`,
    // The others may contain what does not fit the encoding.
    'TEMPLATE template0',
    `ENCODING ${literal(spec.encoding)}`,
    `LOCALE ${literal(spec.locale)}`,
    ...(spec.icuLocale === undefined ? [] : ['LOCALE_PROVIDER icu', `ICU_LOCALE ${literal(spec.icuLocale)}`]),
  ];
  const create = `CREATE DATABASE ${quoted(begun)} ${options.join(' ')}`;
  const finish = [
    `COMMENT ON DATABASE ${quoted(begun)} IS ${literal(contentMark('PostgresDatabase', name))}`,
    `ALTER DATABASE ${quoted(begun)} CONNECTION LIMIT ${spec.connectionLimit}`,
    `ALTER DATABASE ${quoted(begun)} RENAME TO ${quoted(spec.name)}`,
  ];
  return [
    ...(facts.isBegun
      ? []
      : [{ summary: `create database ${spec.name}, first under a temporary name`, database: 'postgres', sql: create }]),
    {
      summary: `mark database ${spec.name} as created for this resource, and give it its name`,
      database: 'postgres',
      sql: finish.join('; '),
    },
  ];
}

function drift(spec: DatabaseSpec, seen: DatabaseSeen): Statement[] {
  const { facts } = seen;
  const name = quoted(spec.name);
  const changes: Statement[] = [];
  if (facts.owner !== spec.owner) {
    const summary = `give database ${spec.name} from ${facts.owner ?? 'nobody'} to ${spec.owner}`;
    changes.push({ summary, database: 'postgres', sql: `ALTER DATABASE ${name} OWNER TO ${quoted(spec.owner)}` });
  }
  if (facts.connectionLimit !== spec.connectionLimit) {
    const summary = `change the connection limit of database ${spec.name} from ${facts.connectionLimit} to ${spec.connectionLimit}`;
    changes.push({
      summary,
      database: 'postgres',
      sql: `ALTER DATABASE ${name} CONNECTION LIMIT ${spec.connectionLimit}`,
    });
  }
  return [...changes, ...schemaChanges(spec, seen), ...extensionChanges(spec, seen)];
}

function schemaChanges(spec: DatabaseSpec, { schemas }: DatabaseSeen): Statement[] {
  return spec.schemas.flatMap(({ name, owner }): Statement[] => {
    const found = schemas.find((schema) => schema.name === name);
    const change = (summary: string, sql: string): Statement => ({ summary, database: spec.name, sql });
    if (found === undefined) {
      const sql = `CREATE SCHEMA ${quoted(name)} AUTHORIZATION ${quoted(owner ?? spec.owner)}`;
      return [change(`create schema ${name} in database ${spec.name}`, sql)];
    }
    if (owner === undefined || found.owner === owner) return [];
    const sql = `ALTER SCHEMA ${quoted(name)} OWNER TO ${quoted(owner)}`;
    return [change(`give schema ${name} of database ${spec.name} from ${found.owner} to ${owner}`, sql)];
  });
}

/** The first schema in which an extension is created that names none. Sessions of the operator have `pg_catalog` alone. */
const extensionPath = 'SET search_path = public; ';

/** As the owner of the database: PostgreSQL lets it create trusted extensions, and then they are its own. */
function extensionChanges(spec: DatabaseSpec, { extensions }: DatabaseSeen): Statement[] {
  return spec.extensions.flatMap(({ name, version, schema }): Statement[] => {
    const found = extensions.find((extension) => extension.name === name);
    const change = (summary: string, manual: string, before = ''): Statement => ({
      summary,
      database: spec.name,
      sql: `${before}SET ROLE ${quoted(spec.owner)}; ${manual}`,
      manual,
    });
    if (found === undefined) {
      const options = [
        ...(schema === undefined ? [] : [`SCHEMA ${quoted(schema)}`]),
        ...(version === undefined ? [] : [`VERSION ${quoted(version)}`]),
      ];
      const sql = ['CREATE EXTENSION', quoted(name), ...options].join(' ');
      return [change(`create extension ${name} in database ${spec.name}`, sql, extensionPath)];
    }
    if (version === undefined || found.version === version) return [];
    const summary = `update extension ${name} of database ${spec.name} from ${found.version} to ${version}`;
    return [change(summary, `ALTER EXTENSION ${quoted(name)} UPDATE TO ${quoted(version)}`)];
  });
}

/** What differs and is not put right. */
export function databaseWarnings({ resource: { spec }, observed }: DatabaseSituation): readonly string[] {
  if (observed.state === 'unreachable' || !observed.facts.exists) return [];
  const { facts, extensions } = observed;
  const isOther = (wanted: string, found: string | undefined): boolean =>
    found !== undefined && normalised(wanted) !== normalised(found);
  return [
    ...(isOther(spec.encoding, facts.encoding)
      ? [`database ${spec.name} has the encoding ${facts.encoding}, which cannot be changed to ${spec.encoding}`]
      : []),
    ...(isOther(spec.locale, facts.locale)
      ? [`database ${spec.name} has the locale ${facts.locale}, which cannot be changed to ${spec.locale}`]
      : []),
    ...spec.extensions.flatMap(({ name, schema }) => {
      const found = extensions.find((extension) => extension.name === name);
      return found === undefined || schema === undefined || found.schema === schema
        ? []
        : [`extension ${name} is in schema ${found.schema}, and is not moved to ${schema}`];
    }),
  ];
}

/** `C.UTF-8` is `C.utf8`. */
function normalised(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

export function planDatabaseRemoval({ resource, observed }: DatabaseSituation): ContentPlan {
  const { spec, metadata } = resource;
  if (reservedIn(spec) !== undefined) return { steps: [], outcome: settled };
  if (observed.state === 'unreachable') return unreachable(observed.why);
  const { facts, address } = observed;
  const begun = begunDatabase(metadata.uid);
  const isOurs = facts.exists && facts.madeFor === metadata.name && !spec.adopt;
  const going = [...(facts.isBegun ? [begun] : []), ...(isOurs ? [spec.name] : [])];
  if (going.length === 0) return { steps: [], outcome: settled };
  const steps = going.map((name) =>
    runStep(address, { summary: `drop database ${name}`, database: 'postgres', sql: `DROP DATABASE ${quoted(name)}` }),
  );
  return { steps, outcome: wait('Dropping', `database ${spec.name} is being dropped`, recheckMs) };
}
