/** Databases and users, made and kept by the operator's role, which is no superuser, on real servers. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { literal, quoted, textArray } from '../../../src/engines/postgres/client/quoting.ts';
import { withSession } from '../../../src/engines/postgres/client/session.ts';
import type { PostgresSpec } from '../../../src/engines/postgres/kind/schema.ts';
import { observeLogins } from '../../../src/engines/postgres/observe/logins.ts';
import { type Contents, contentResource, openContents, targetOf } from '../../support/postgres-contents.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

const user = (name: string, spec: object = {}, metadata: object = {}) =>
  contentResource('PostgresUser', name, { name, ...spec }, metadata);
const database = (name: string, owner: string, spec: object = {}, metadata: object = {}) =>
  contentResource('PostgresDatabase', name, { name, owner, ...spec }, metadata);

describe.each([...postgresPrograms])('PostgreSQL %s', (_, program) => {
  let it_: Contents;
  beforeAll(async () => {
    it_ = await openContents(program);
  });
  afterAll(() => it_?.close());

  /** As a role with the password of its Secret. */
  const as = async (
    role: string,
    sql: string,
    db = 'postgres',
    password = it_.secrets.get(`${role}-login`)?.password,
  ) => {
    const login = { user: role, database: db, ...(password === undefined ? {} : { password }) };
    const tls = { ca: it_.secrets.get('db-operator-tls')?.['ca.crt'] ?? '', servername: 'db-primary.apps.svc' };
    const target = { address: '127.0.0.1', port: it_.server.port, login, tls, timeoutMs: 30_000 };
    return await withSession(it_.io, target, async (connection) => (await connection.query(sql)).at(-1)?.rows ?? []);
  };

  it('a user and a database of its own, from nothing', async () => {
    const owner = user('shop-owner');
    expect(await it_.settle(owner)).toMatchObject({
      did: ['create Secret shop-owner-login', 'create role shop-owner, with the password of Secret shop-owner-login'],
      reason: 'settled',
    });
    const spec = { extensions: [{ name: 'hstore', schema: 'ext' }], schemas: [{ name: 'ext' }], connectionLimit: 20 };
    const made = await it_.settle(database('shop', 'shop-owner', spec));
    expect(made).toMatchObject({
      did: [
        'create database shop, first under a temporary name',
        'mark database shop as created for this resource, and give it its name',
        'create schema ext in database shop',
        'create extension hstore in database shop',
      ],
      reason: 'settled',
      refused: [],
    });
    expect(it_.secrets.get('shop-owner-login')?.uri).toContain(
      'postgresql://shop-owner:generated-for-shop-owner-login@db-primary.',
    );
    await as('shop-owner', 'CREATE TABLE public.t (n int, h ext.hstore)', 'shop');
    expect(await it_.settle(database('shop', 'shop-owner', spec))).toMatchObject({ did: [], reason: 'settled' });
  });

  it('a database that was there is left alone until the spec adopts it', async () => {
    await it_.server.sql('CREATE DATABASE legacy');
    expect(await it_.settle(database('legacy', 'shop-owner'))).toMatchObject({
      did: [],
      reason: 'AlreadyExists',
      message:
        'database legacy exists and was not created for this PostgresDatabase: to manage it all the same, set spec.adopt to true',
    });
    const adopted = database('legacy', 'shop-owner', { adopt: true });
    const { refused } = await it_.settle(adopted);
    // It is the superuser's.
    expect(refused).toEqual(['must be owner of database legacy']);
    await it_.server.sql('ALTER DATABASE legacy OWNER TO "shop-owner"');
    expect(await it_.settle(adopted)).toMatchObject({ did: [], reason: 'settled' });
    expect(await it_.remove(adopted)).toMatchObject({ did: [], reason: 'settled' });
  });

  it('of two resources of one database, the younger is refused', async () => {
    const younger = contentResource(
      'PostgresDatabase',
      'again',
      { name: 'shop', owner: 'shop-owner' },
      { creationTimestamp: '2026-01-02T00:00:00Z' },
    );
    expect(await it_.settle(younger, { peers: [database('shop', 'shop-owner')] })).toMatchObject({
      reason: 'NameTaken',
      message: 'shop in PostgresCluster db is that of PostgresDatabase shop, which is older',
    });
    expect(await it_.settle(younger)).toMatchObject({
      reason: 'AlreadyExists',
      message:
        'database shop was created for PostgresDatabase shop: to manage it here, delete that one and set spec.adopt to true',
    });
    expect(
      await it_.settle(database('shop', 'shop-owner', { connectionLimit: 20 }), { peers: [younger] }),
    ).toMatchObject({ reason: 'settled' });
  });

  it('an operator that is killed after each step ends with the same database', async () => {
    for (let steps = 1; steps < 4; steps++) {
      const half = database('halves', 'shop-owner', { schemas: [{ name: 'a' }] });
      await it_.settle(half, { steps });
    }
    expect(await it_.settle(database('halves', 'shop-owner', { schemas: [{ name: 'a' }] }))).toMatchObject({
      did: [],
      reason: 'settled',
    });
    expect(await it_.server.sql("SELECT count(*) FROM pg_database WHERE datname LIKE 'clusterwright-%'")).toEqual([
      ['0'],
    ]);
  });

  it('an extension that wants a superuser is said, with the command, and nothing else waits for it', async () => {
    const wants = database('shop', 'shop-owner', {
      connectionLimit: 20,
      extensions: [{ name: 'pageinspect' }, { name: 'citext' }],
    });
    const { refused, did } = await it_.settle(wants);
    expect(did).toEqual(['create extension pageinspect in database shop', 'create extension citext in database shop']);
    expect(refused).toEqual([
      'permission denied to create extension "pageinspect" (Must be superuser to create this extension.); a superuser can: ' +
        `kubectl exec -n apps db-0-0 -c postgres -- psql -U postgres -d shop -c 'CREATE EXTENSION "pageinspect"'`,
    ]);
    await it_.server.sql('CREATE EXTENSION "pageinspect"', 'shop');
    expect(await it_.settle(wants)).toMatchObject({ did: [], reason: 'settled' });
  });

  it('drift by hand is put right', async () => {
    await it_.settle(user('other'));
    await it_.server.sql('ALTER DATABASE shop OWNER TO other; ALTER DATABASE shop CONNECTION LIMIT 3');
    await it_.server.sql('ALTER SCHEMA ext OWNER TO other', 'shop');
    const { did, reason } = await it_.settle(
      database('shop', 'shop-owner', { connectionLimit: 20, schemas: [{ name: 'ext', owner: 'shop-owner' }] }),
    );
    expect({ did, reason }).toEqual({
      did: [
        'give database shop from other to shop-owner',
        'change the connection limit of database shop from 3 to 20',
        'give schema ext of database shop from other to shop-owner',
      ],
      reason: 'settled',
    });
    await it_.server.sql("ALTER ROLE other CREATEDB NOINHERIT CONNECTION LIMIT 7 VALID UNTIL '2030-01-01'");
    expect(await it_.settle(user('other'))).toMatchObject({
      did: ['change CREATEDB, INHERIT, CONNECTION LIMIT, VALID UNTIL of role other'],
      reason: 'settled',
    });
  });

  it('a password that is changed on either side becomes that of the Secret, and sessions go on', async () => {
    const app = user('app-user', { passwordSecret: { name: 'given' } });
    expect(await it_.settle(app)).toMatchObject({ did: [], reason: 'SecretMissing' });
    it_.secrets.set('given', { password: 'first' });
    expect(await it_.settle(app)).toMatchObject({ reason: 'settled' });
    expect(await as('app-user', 'SELECT 1', 'shop', 'first')).toEqual([['1']]);
    it_.secrets.set('given', { password: 'second' });
    expect(await it_.settle(app)).toMatchObject({
      did: ['set the password of role app-user to that of Secret given'],
      reason: 'settled',
    });
    await expect(as('app-user', 'SELECT 1', 'shop', 'first')).rejects.toMatchObject({ code: '28P01' });
    expect(await as('app-user', 'SELECT 1', 'shop', 'second')).toEqual([['1']]);
    await it_.server.sql('ALTER ROLE "app-user" PASSWORD \'by hand\'');
    expect(await it_.settle(app)).toMatchObject({ reason: 'settled' });
    expect(await as('app-user', 'SELECT 1', 'shop', 'second')).toEqual([['1']]);
    expect(it_.server.log()).not.toContain('second');
    it_.secrets.set('given', { password: '\u00a0odd' });
    expect(await it_.settle(app)).toMatchObject({ reason: 'PasswordRefused' });
    it_.secrets.set('given', { password: 'second' });
  });

  it('an expired password is not set again and again', async () => {
    const expired = user('expired', { validUntil: '2020-01-01T00:00:00Z' });
    expect(await it_.settle(expired)).toMatchObject({ reason: 'settled' });
    expect(await it_.settle(expired)).toMatchObject({ did: [], reason: 'settled' });
  });

  it('roles of an application, of readers, and of migrations', async () => {
    const grant = (more: object) => [{ database: 'shop', schemas: [{ name: 'public', ...more }] }];
    await as('shop-owner', 'CREATE TABLE public.items (id serial, name text)', 'shop');
    const migrate = user('migrate', {
      grants: [
        {
          database: 'shop',
          privileges: ['CONNECT', 'CREATE'],
          schemas: [{ name: 'public', privileges: ['USAGE', 'CREATE'] }],
        },
      ],
    });
    const createdBy = ['shop-owner', 'migrate'];
    const reader = user('reader', { grants: grant({ tables: ['SELECT'], createdBy }) });
    const writer = user('writer', {
      grants: grant({ tables: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'], sequences: ['USAGE', 'SELECT'], createdBy }),
    });
    for (const each of [migrate, reader, writer])
      expect(await it_.settle(each)).toMatchObject({ reason: 'settled', refused: [] });
    await as('migrate', 'CREATE TABLE public.later (id serial)', 'shop');
    for (const table of ['items', 'later']) {
      await as('writer', `INSERT INTO public.${table} DEFAULT VALUES`, 'shop');
      expect(await as('reader', `SELECT id FROM public.${table}`, 'shop')).toEqual([['1']]);
      await expect(as('reader', `DELETE FROM public.${table}`, 'shop')).rejects.toMatchObject({ code: '42501' });
    }
    for (const each of [migrate, reader, writer])
      expect(await it_.settle(each)).toMatchObject({ did: [], reason: 'settled' });
    // By hand, in both directions.
    await it_.server.sql('REVOKE SELECT ON items FROM reader; GRANT TRUNCATE ON later TO reader', 'shop');
    expect(await it_.settle(reader)).toMatchObject({
      did: [
        'grant SELECT on 1 of the tables in schema public of database shop to reader, and revoke other privileges on 1 of the tables in schema public of database shop from reader',
      ],
      reason: 'settled',
    });
    const less = user('writer', { grants: [] });
    const { did, reason } = await it_.settle(less);
    expect({ some: did.length > 3, reason }).toEqual({ some: true, reason: 'settled' });
    await expect(as('writer', 'SELECT FROM public.items', 'shop')).rejects.toMatchObject({ code: '42501' });
  });

  it('memberships are those of the spec, as far as the operator made them', async () => {
    const group = user('group', { login: false });
    expect(await it_.settle(group)).toMatchObject({ did: ['create role group'], reason: 'settled' });
    expect(await it_.settle(user('member', { memberOf: ['group', 'nobody'] }))).toMatchObject({
      reason: 'ObjectMissing',
      message: 'there is no role nobody; a PostgresUser can create it',
    });
    await it_.server.sql('CREATE ROLE by_hand; GRANT by_hand TO member');
    expect(await it_.settle(user('member', { memberOf: [] }))).toMatchObject({
      did: ['end the membership of member in role group'],
      reason: 'settled',
    });
    expect(
      await it_.server.sql(
        "SELECT pg_has_role('member', 'by_hand', 'MEMBER'), pg_has_role('member', 'group', 'MEMBER')",
      ),
    ).toEqual([['t', 'f']]);
  });

  it('under Delete, a role loses what its grants gave it on tables, and goes', async () => {
    const tables = { name: 'public', tables: ['SELECT'], sequences: ['USAGE'] };
    const auditor = user('auditor', { grants: [{ database: 'shop', schemas: [tables] }], deletionPolicy: 'Delete' });
    expect(await it_.settle(auditor)).toMatchObject({ reason: 'settled', refused: [] });
    const granted = "SELECT count(*) > 0 FROM information_schema.table_privileges WHERE grantee = 'auditor'";
    expect(await it_.server.sql(granted, 'shop')).toEqual([['t']]);
    expect(await it_.remove(auditor)).toMatchObject({ reason: 'settled' });
    expect(await it_.server.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'auditor'")).toEqual([['0']]);
  });

  it('under Delete, what was created goes, and nothing that somebody still has', async () => {
    const reader = user('reader', { grants: [{ database: 'shop' }], deletionPolicy: 'Delete' });
    expect(await it_.remove(reader)).toMatchObject({ reason: 'settled' });
    expect(await it_.server.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'reader'")).toEqual([['0']]);
    const migrate = user('migrate', { grants: [], deletionPolicy: 'Delete' });
    await expect(it_.remove(migrate)).rejects.toThrow(
      /cannot be dropped because some objects depend on it .*objects? in database shop|owner of/,
    );
    expect(await it_.server.sql('SELECT count(*) FROM later', 'shop')).toEqual([['1']]);
    const gone = database('halves', 'shop-owner', { deletionPolicy: 'Delete' });
    const open = as('shop-owner', 'SELECT pg_sleep(60)', 'halves').catch((error: Error) => error.message);
    await expect
      .poll(() =>
        it_.server.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = 'halves' AND usename = 'shop-owner'"),
      )
      .toEqual([['1']]);
    await expect(it_.remove(gone)).rejects.toThrow(
      'database "halves" is being accessed by other users (There is 1 other session using the database.)',
    );
    await it_.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'halves'");
    expect(await open).toContain('terminating connection');
    expect(await it_.remove(gone)).toMatchObject({ reason: 'settled' });
    await it_.server.sql('CREATE DATABASE halves');
    expect(await it_.remove(gone)).toMatchObject({ did: [], reason: 'settled' });
  });

  it('names that are anything are quoted so that they mean themselves', async () => {
    const odd = fc.string({ unit: fc.constantFrom(...'ab"\'\\;-- $%{}\n\tÄ😀.'), minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(odd, odd, async (name, text) => {
      const setting = ['on', 'off'].map((value) => `SET standard_conforming_strings = ${value}`);
      for (const sql of setting) {
        const query = `${sql}; SELECT ${literal(text)}, (${textArray([text, name])})[2], ${literal(name)} AS ${quoted(name)}`;
        expect(await it_.server.sql(query)).toEqual([[text, name, name]]);
      }
      const made = `CREATE ROLE ${quoted(name)}; SELECT rolname FROM pg_roles WHERE rolname = ${literal(name)}`;
      expect(await it_.server.sql(made)).toEqual([[name]]);
      expect(
        await it_.server.sql(
          `DO ${literal(`BEGIN EXECUTE format('DROP ROLE %I', ${literal(name)}); END`)}; SELECT count(*) FROM pg_roles WHERE rolname = ${literal(name)}`,
        ),
      ).toEqual([['0']]);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('roles of others are refused', async () => {
    expect(await it_.settle(user('app'))).toMatchObject({ reason: 'NameReserved' });
    await it_.server.sql('CREATE ROLE boss SUPERUSER LOGIN');
    expect(await it_.settle(user('boss', { adopt: true }))).toMatchObject({ did: [], reason: 'AlreadyExists' });
    expect(await it_.settle(database('of-boss', 'boss'))).toMatchObject({ did: [], reason: 'OwnerRefused' });
    expect(await it_.settle(database('of-nobody', 'nobody'))).toMatchObject({ did: [], reason: 'OwnerMissing' });
  });

  it('a role that a person made powerful is given to nobody, neither adopted nor made an owner', async () => {
    // Before 16, CREATEROLE is enough to grant each of them.
    await it_.server.sql(
      'CREATE ROLE programs LOGIN; GRANT pg_execute_server_program TO programs; CREATE ROLE jobs; GRANT programs TO jobs; CREATE ROLE dba LOGIN CREATEROLE; CREATE ROLE chief SUPERUSER; CREATE ROLE admins; GRANT chief TO admins; CREATE ROLE analysts; GRANT pg_read_all_data TO analysts; CREATE ROLE writers; GRANT pg_write_all_data TO writers; CREATE ROLE rewinder; CREATE ROLE copiers; GRANT rewinder TO copiers',
    );
    await it_.server.sql('CREATE DATABASE of_jobs OWNER jobs');
    for (const role of ['programs', 'jobs', 'dba', 'admins', 'analysts', 'writers', 'copiers']) {
      expect(await it_.settle(user('climber', { memberOf: [role] }))).toMatchObject({ reason: 'MembershipRefused' });
      expect(await it_.settle(user(role, { adopt: true }))).toMatchObject({ did: [], reason: 'RoleRefused' });
      expect(await it_.settle(database('of-them', role))).toMatchObject({ did: [], reason: 'OwnerRefused' });
    }
    const grants = [{ database: 'of_jobs' }];
    expect(await it_.settle(user('climber', { grants }))).toMatchObject({ did: [], reason: 'OwnerRefused' });
    expect(
      await it_.server.sql(
        "SELECT r, p FROM unnest(ARRAY['climber', 'clusterwright']) AS r, unnest(ARRAY['programs', 'jobs', 'dba', 'chief', 'analysts', 'writers', 'copiers']) AS p WHERE pg_has_role(r, p, 'MEMBER')",
      ),
    ).toEqual([]);
    expect((await it_.settle(user('climber', { memberOf: ['jobs'] }))).message).toBe(
      'role jobs is a member of role pg_execute_server_program: the operator makes nobody a member of it; a superuser can',
    );
    // A superuser has decided otherwise.
    await it_.server.sql('GRANT jobs TO climber');
    const { reason, assessment } = await it_.settle(user('climber', { memberOf: ['jobs'] }));
    expect(reason).toBe('settled');
    expect(assessment.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'SpecWarning',
        message:
          'role climber is a member of role pg_execute_server_program, which no PostgresUser gives: a superuser can take it away',
      }),
    );
    await it_.server.sql('REVOKE jobs FROM climber');
  });

  it('a role of the operator that is not there is told from one with another password', async () => {
    const target = targetOf({ pooler: {} }) as Cluster<PostgresSpec>;
    it_.secrets.set('db-pooler-login', { password: 'swimming-pool-attendant' });
    const state = async () => (await observeLogins(target, '127.0.0.1', it_.io)).map((login) => login.state);
    expect(await state()).toEqual(['role-missing']);
    await it_.server.sql("CREATE ROLE clusterwright_pooler LOGIN PASSWORD 'another'");
    expect(await state()).toEqual(['password-wrong']);
    await it_.server.sql("ALTER ROLE clusterwright_pooler PASSWORD 'swimming-pool-attendant'");
    expect(await state()).toEqual(['well']);
  });

  it('a primary that is none any more is not asked, and nothing is concluded', async () => {
    const nowhere = targetOf({}, { primary: 'db-1-0' });
    expect(await it_.settle(database('shop', 'shop-owner'), { target: nowhere })).toMatchObject({
      did: [],
      reason: 'NotObserved',
      message: 'PostgresCluster db has no primary',
    });
  });

  it('a database that its owner closes to the operator does not keep rights elsewhere', async () => {
    await it_.settle(user('team', { login: false }));
    await it_.settle(user('leaver', { memberOf: ['team'] }));
    await it_.settle(database('closed', 'leaver'));
    await as('leaver', 'GRANT CONNECT ON DATABASE closed TO leaver; ALTER DATABASE closed CONNECTION LIMIT 0');
    const less = { memberOf: [], connectionLimit: 3, grants: [] };
    expect(await it_.settle(user('leaver', less))).toMatchObject({
      did: ['change CONNECTION LIMIT of role leaver', 'end the membership of leaver in role team'],
      reason: 'NotObserved',
      message: 'privileges in database closed are not known: too many connections for database "closed"',
    });
    const removal = it_.remove(user('leaver', { ...less, deletionPolicy: 'Delete' }));
    await expect(removal).rejects.toThrow('role "leaver" cannot be dropped because some objects depend on it');
    await it_.server.sql('ALTER DATABASE closed CONNECTION LIMIT -1');
    expect(await it_.settle(user('leaver', less))).toMatchObject({ did: [], reason: 'settled' });
  });

  it('what the owner sets for sessions in a database changes nothing for the operator', async () => {
    await as(
      'shop-owner',
      "ALTER DATABASE shop SET standard_conforming_strings = off; ALTER DATABASE shop SET role = 'shop-owner'; ALTER DATABASE shop SET search_path = ext; ALTER DATABASE shop SET default_transaction_read_only = on",
      'shop',
    );
    const spec = { connectionLimit: 20, schemas: [{ name: 'Quiet.one' }] };
    expect(await it_.settle(database('shop', 'shop-owner', spec))).toMatchObject({
      did: ['create schema Quiet.one in database shop'],
      reason: 'settled',
      refused: [],
    });
  });
});
