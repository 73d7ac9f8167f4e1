/** PostgresDatabases and PostgresUsers that are accepted and refused. */
import { databasePrivileges, sequencePrivileges, tablePrivileges } from '../../src/engines/postgres/kind/user.ts';
import type { Case, Json } from './case.ts';

const cluster: Json = { kind: 'PostgresCluster', name: 'db' };

type Row = (story: string, fields: Json, refused?: string) => Case;
type Change = (story: string, before: Json, after: Json, refused?: string) => Case;

const rowOf =
  (base: Json): Row =>
  (story, fields, refused) => ({
    story,
    spec: Object.fromEntries(Object.entries({ ...base, ...fields }).filter(([, value]) => value !== undefined)),
    ...(refused === undefined ? {} : { refused: `spec.${refused}` }),
  });
const changeOf =
  (base: Json): Change =>
  (story, before, after, refused) => ({ ...rowOf(base)(story, after, refused), old: { ...base, ...before } });

/** Every place for a role: of PostgreSQL or of the operator, it is none. */
const reserved = [
  'pg_monitor',
  'postgres',
  'public',
  'none',
  'current_user',
  'current_role',
  'session_user',
  'clusterwright',
  'clusterwright_pooler',
  'clusterwright_monitor',
  'clusterwright-of-later',
  'replicator',
  'rewinder',
];
const roleCases = (row: Row, field: string, at: (name: string) => Json): readonly Case[] => [
  ...reserved.map((name) => row(`${field} ${name}`, at(name), field)),
  ...nameCases(row, field, at),
];
const nameCases = (row: Row, field: string, at: (name: string) => Json): readonly Case[] => [
  row(`${field} that needs quotes`, at('My-app.2_X')),
  row(`the longest ${field}`, at('a'.repeat(63))),
  row(`${field} that is too long`, at('a'.repeat(64)), field),
  row(`${field} with a quote`, at('a"b'), field),
  row(`${field} that begins with a digit`, at('1a'), field),
  row(`${field} that is empty`, at(''), field),
];

const common = (row: Row, change: Change): readonly Case[] => [
  row('a cluster by its name alone', { cluster: { name: 'db' } }),
  row('another kind of cluster', { cluster: { ...cluster, kind: 'RedisCluster' } }, 'cluster.kind'),
  row('no cluster', { cluster: undefined }, 'cluster'),
  row('a cluster without a name', { cluster: {} }, 'cluster.name'),
  row('a cluster of another namespace', { cluster: { ...cluster, namespace: 'b' } }, 'cluster.namespace'),
  row('a bad name of a cluster', { cluster: { name: 'A' } }, 'cluster.name'),
  row('the longest name of a cluster', { cluster: { name: 'a'.repeat(40) } }),
  row('a name of a cluster that is too long', { cluster: { name: 'a'.repeat(41) } }, 'cluster.name'),
  change('another cluster', {}, { cluster: { name: 'other' } }, 'cluster'),
  row('no name', { name: undefined }, 'name'),
  change('another name', {}, { name: 'other' }, 'name'),
  row('adopted', { adopt: true }),
  row('adopted, and dropped', { adopt: true, deletionPolicy: 'Delete' }, 'deletionPolicy'),
  row('dropped', { deletionPolicy: 'Delete' }),
  row('a policy of clusters', { deletionPolicy: 'Snapshot' }, 'deletionPolicy'),
  row('no connections', { connectionLimit: 0 }),
  row('all connections that there can be', { connectionLimit: 262_143 }),
  row('more connections than there can be', { connectionLimit: 262_144 }, 'connectionLimit'),
  row('less than no connections', { connectionLimit: -2 }, 'connectionLimit'),
  row('an unknown field', { superuser: true }, 'superuser'),
  { ...row('the longest name', {}), metadata: { name: 'a'.repeat(40) } },
  { ...row('a name that is too long', {}), metadata: { name: 'a'.repeat(41) }, refused: 'metadata.name' },
  { ...row('a bad name', {}), metadata: { name: '1a' }, refused: 'metadata.name' },
  { story: 'no spec', spec: undefined, refused: 'spec' },
];

const database: Json = { cluster, name: 'shop', owner: 'app' };
const ofDatabase = rowOf(database);
const changed = changeOf(database);
const many = (count: number, prefix = 'n'): Json[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}` }));
const localeCases = (field: string): readonly Case[] => [
  ofDatabase(`the longest ${field}`, { [field]: 'a'.repeat(63) }),
  ofDatabase(`${field} that is too long`, { [field]: 'a'.repeat(64) }, field),
  ofDatabase(`${field} with a quote`, { [field]: "C'" }, field),
  changed(`another ${field}`, { [field]: 'A' }, { [field]: 'B' }, field),
];

export const databaseCases: readonly Case[] = [
  ofDatabase('everything set', {
    cluster: { ...cluster, kind: 'PostgresCluster' },
    adopt: false,
    connectionLimit: 20,
    encoding: 'UTF8',
    locale: 'de_DE.UTF-8@euro',
    icuLocale: 'de-DE',
    extensions: [{ name: 'uuid-ossp', version: '1.1', schema: 'ext' }],
    schemas: [{ name: 'ext', owner: 'app' }],
    deletionPolicy: 'Retain',
  }),
  ...common(ofDatabase, changed),
  ofDatabase('no owner', { owner: undefined }, 'owner'),
  ...roleCases(ofDatabase, 'owner', (owner) => ({ owner })),
  ...nameCases(ofDatabase, 'name', (name) => ({ name })),
  ...['postgres', 'template0', 'template1', 'clusterwright-0'].map((name) =>
    ofDatabase(`name ${name}`, { name }, 'name'),
  ),
  ...['encoding', 'locale', 'icuLocale'].flatMap(localeCases),
  changed('an ICU locale later', {}, { icuLocale: 'de' }, 'icuLocale'),
  changed('another owner', {}, { owner: 'other' }),
  ofDatabase('as many extensions as there can be', { extensions: many(32) }),
  ofDatabase('too many extensions', { extensions: many(33) }, 'extensions'),
  ofDatabase('an extension twice', { extensions: [{ name: 'a' }, { name: 'a' }] }, 'extensions[1]'),
  ofDatabase('an extension without a name', { extensions: [{}] }, 'extensions[0].name'),
  ...nameCases(ofDatabase, 'extensions[0].name', (name) => ({ extensions: [{ name }] })),
  ...nameCases(ofDatabase, 'extensions[0].schema', (schema) => ({ extensions: [{ name: 'a', schema }] })),
  ofDatabase('the longest version', { extensions: [{ name: 'a', version: '1'.repeat(63) }] }),
  ofDatabase(
    'a version that is too long',
    { extensions: [{ name: 'a', version: '1'.repeat(64) }] },
    'extensions[0].version',
  ),
  ofDatabase('a bad version', { extensions: [{ name: 'a', version: '1;' }] }, 'extensions[0].version'),
  ofDatabase('as many schemas as there can be', { schemas: many(32) }),
  ofDatabase('too many schemas', { schemas: many(33) }, 'schemas'),
  ofDatabase('a schema twice', { schemas: [{ name: 'a' }, { name: 'a' }] }, 'schemas[1]'),
  ofDatabase('a schema without a name', { schemas: [{}] }, 'schemas[0].name'),
  ofDatabase('a schema of PostgreSQL', { schemas: [{ name: 'pg_temp' }] }, 'schemas[0].name'),
  ofDatabase('the information schema', { schemas: [{ name: 'information_schema' }] }, 'schemas[0].name'),
  ...nameCases(ofDatabase, 'schemas[0].name', (name) => ({ schemas: [{ name }] })),
  ...roleCases(ofDatabase, 'schemas[0].owner', (owner) => ({ schemas: [{ name: 'a', owner }] })),
];

const user: Json = { cluster, name: 'reports' };
const ofUser = rowOf(user);
const grant = (fields: Json): Json => ({ grants: [{ database: 'shop', ...fields }] });
const onSchema = (fields: Json): Json => grant({ schemas: [{ name: 'public', ...fields }] });
const secret = (fields: Json): Json => ({ passwordSecret: { name: 'given', ...fields } });
const privilegeCases = (
  field: string,
  all: readonly string[],
  at: (list: readonly string[]) => Json,
): readonly Case[] => [
  ofUser(`every one of ${field}`, at(all)),
  ofUser(`none of ${field}`, at([])),
  ofUser(`${field} twice`, at([all[0] ?? '', all[0] ?? '']), `${field}[1]`),
  ofUser(`too many of ${field}`, at([...all, all[0] ?? '']), field),
  ofUser(`an unknown one of ${field}`, at(['ALL']), `${field}[0]`),
];

export const userCases: readonly Case[] = [
  ofUser('everything set', {
    login: true,
    passwordSecret: { name: 'given', key: 'pw' },
    database: 'shop',
    createDatabase: true,
    inherit: false,
    connectionLimit: 5,
    validUntil: '2030-01-01T00:00:00Z',
    memberOf: ['readers'],
    ...onSchema({ tables: ['SELECT'], createdBy: ['migrate'] }),
    deletionPolicy: 'Delete',
  }),
  ...common(ofUser, changeOf(user)),
  ...roleCases(ofUser, 'name', (name) => ({ name })),
  ofUser('a group', { login: false }),
  ofUser('a group with a password', { login: false, ...secret({}) }, 'passwordSecret'),
  ofUser('a Secret without a name', { passwordSecret: {} }, 'passwordSecret.name'),
  ofUser('a Secret with the longest name', secret({ name: 'a'.repeat(253), key: 'b'.repeat(253) })),
  ofUser('a Secret with a name that is too long', secret({ name: 'a'.repeat(254) }), 'passwordSecret.name'),
  ofUser('a Secret with a bad name', secret({ name: 'A' }), 'passwordSecret.name'),
  ofUser('a key that is too long', secret({ key: 'a'.repeat(254) }), 'passwordSecret.key'),
  ofUser('a bad key', secret({ key: 'a/b' }), 'passwordSecret.key'),
  ofUser('a time that is none', { validUntil: 'tomorrow' }, 'validUntil'),
  ofUser('the longest time', { validUntil: `2030-01-01T00:00:00.${'0'.repeat(9)}+01:00` }),
  ofUser('a time that is too long', { validUntil: `2030-01-01T00:00:00.${'0'.repeat(10)}+01:00` }, 'validUntil'),
  ...nameCases(ofUser, 'database', (name) => ({ database: name })),
  ...roleCases(ofUser, 'memberOf[0]', (role) => ({ memberOf: [role] })),
  ofUser('as many memberships as there can be', { memberOf: many(16).map(({ name }) => name) }),
  ofUser('too many memberships', { memberOf: many(17).map(({ name }) => name) }, 'memberOf'),
  ofUser('a membership twice', { memberOf: ['a', 'a'] }, 'memberOf[1]'),
  ofUser('no grants', { grants: [] }),
  ofUser('as many grants as there can be', { grants: many(16).map(({ name }) => ({ database: name })) }),
  ofUser('too many grants', { grants: many(17).map(({ name }) => ({ database: name })) }, 'grants'),
  ofUser('a grant twice', { grants: [{ database: 'a' }, { database: 'a' }] }, 'grants[1]'),
  ofUser('a grant without a database', { grants: [{}] }, 'grants[0].database'),
  ...nameCases(ofUser, 'grants[0].database', (name) => ({ grants: [{ database: name }] })),
  ...privilegeCases('grants[0].privileges', databasePrivileges, (privileges) => grant({ privileges })),
  ofUser('as many schemas as there can be', grant({ schemas: many(16) })),
  ofUser('too many schemas', grant({ schemas: many(17) }), 'grants[0].schemas'),
  ofUser('a schema twice', grant({ schemas: [{ name: 'a' }, { name: 'a' }] }), 'grants[0].schemas[1]'),
  ofUser('a schema without a name', grant({ schemas: [{}] }), 'grants[0].schemas[0].name'),
  ofUser('a schema of PostgreSQL', grant({ schemas: [{ name: 'pg_catalog' }] }), 'grants[0].schemas[0].name'),
  ofUser('the information schema', grant({ schemas: [{ name: 'information_schema' }] }), 'grants[0].schemas[0].name'),
  ...nameCases(ofUser, 'grants[0].schemas[0].name', (name) => grant({ schemas: [{ name }] })),
  ...privilegeCases('grants[0].schemas[0].privileges', ['USAGE', 'CREATE'], (privileges) => onSchema({ privileges })),
  ...privilegeCases('grants[0].schemas[0].tables', tablePrivileges, (tables) => onSchema({ tables })),
  ...privilegeCases('grants[0].schemas[0].sequences', sequencePrivileges, (sequences) => onSchema({ sequences })),
  ...roleCases(ofUser, 'grants[0].schemas[0].createdBy[0]', (role) => onSchema({ createdBy: [role] })),
  ofUser('as many creators as there can be', onSchema({ createdBy: many(16).map(({ name }) => name) })),
  ofUser(
    'too many creators',
    onSchema({ createdBy: many(17).map(({ name }) => name) }),
    'grants[0].schemas[0].createdBy',
  ),
  ofUser('a creator twice', onSchema({ createdBy: ['a', 'a'] }), 'grants[0].schemas[0].createdBy[1]'),
];
