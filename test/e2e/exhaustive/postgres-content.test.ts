/**
 * PostgresDatabase and PostgresUser on a real cluster, with psql as the client: made, put right, adopted, refused in words, and deleted.
 * Another application writes meanwhile.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { apiVersionOf, type Resource } from '../../../src/api/object.ts';
import { jobs, secrets } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { postgresDatabases, postgresUsers } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let operator: OperatorProcess;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-content');
  operator = await stage.startOperator();
  cluster = await stage.createPostgres('p', { instances: 2, resources: { limits: { memory: '384Mi' } } });
  await cluster.whole(2, { withinMs: 240_000 });
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const onPrimary = async (statement: string): Promise<string> =>
  cluster.sql((await cluster.primary()).metadata.name, statement);

const refOf = (resource: Resource, name: string) => ({ resource, namespace: stage.namespace, name });

async function create(resource: Resource, name: string, spec: object): Promise<void> {
  await stage.client.create({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, namespace: stage.namespace },
    spec: { cluster: { kind: 'PostgresCluster', name: 'p' }, ...spec },
  });
}

async function remove(resource: Resource, name: string): Promise<void> {
  const { uid = '' } = (await stage.client.get(refOf(resource, name))).metadata;
  await stage.client.remove({ ...refOf(resource, name), uid });
}

const gone = (resource: Resource, name: string): Promise<void> =>
  until(`${name} gone`, () => expect(stage.client.get(refOf(resource, name))).rejects.toSatisfy(isNotFound));

async function readyOf(
  resource: Resource,
  name: string,
): Promise<NonNullable<ClusterStatus['conditions']>[number] | undefined> {
  const { status, metadata } = await stage.client.get(refOf(resource, name));
  const { conditions = [], observedGeneration } = (status ?? {}) as {
    readonly conditions?: ClusterStatus['conditions'];
    readonly observedGeneration?: number;
  };
  if (observedGeneration !== metadata.generation) return undefined;
  return conditions.find(({ type }) => type === 'Ready');
}

const ready = (resource: Resource, name: string): Promise<void> =>
  until(`${name} ready`, async () => {
    const found = await readyOf(resource, name);
    expect(found?.status, `${found?.reason}: ${found?.message}`).toBe('True');
  });

/** Its message, once it is not ready for this reason. */
const told = (resource: Resource, name: string, reason: string): Promise<string> =>
  until(`${name} says ${reason}`, async () => {
    const found = await readyOf(resource, name);
    expect([found?.status, found?.reason], found?.message).toEqual(['False', reason]);
    return found?.message ?? '';
  });

async function passwordIn(secret: string): Promise<string> {
  const { data } = await stage.client.get(refOf(secrets, secret));
  return Buffer.from((data as Record<string, string>).password ?? '', 'base64').toString();
}

/** With psql, through the Service of the primary. Rejects with its words. */
async function as(role: string, password: string, database: string, statement: string): Promise<string> {
  const [standby] = await cluster.standbys();
  const login = `host=p-primary user=${role} dbname=${database} sslmode=require connect_timeout=5`;
  const psql = `PGPASSWORD='${password}' "$PGBIN"/psql -X -At -v ON_ERROR_STOP=1 "${login}" <<'SQL' 2>&1\n${statement}\nSQL`;
  return cluster.shell(standby?.metadata.name ?? '', `${psql}\n`).catch((error: Error & { stdout?: string }) => {
    throw new Error(error.stdout ?? error.message);
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a database waits for its owner, and both are made', async () => {
  await create(postgresDatabases, 'shop', {
    name: 'shop',
    owner: 'shop_owner',
    connectionLimit: 20,
    extensions: [{ name: 'hstore' }],
    schemas: [{ name: 'orders' }],
  });
  expect(await told(postgresDatabases, 'shop', 'OwnerMissing')).toMatch(/shop_owner/);
  await create(postgresUsers, 'shop-owner', { name: 'shop_owner', database: 'shop' });
  await ready(postgresUsers, 'shop-owner');
  await ready(postgresDatabases, 'shop');
  const password = await passwordIn('shop-owner-login');
  expect(await as('shop_owner', password, 'shop', 'create table orders.item (n int); select current_user')).toMatch(
    /shop_owner$/,
  );
  expect(await onPrimary("select datconnlimit from pg_database where datname = 'shop'")).toBe('20');
});

test('a reader gets what its grants say, of tables that come later as well, and no more', async () => {
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'reports-password', namespace: stage.namespace },
    stringData: { password: 'the-first-one' },
  });
  await create(postgresUsers, 'reports', {
    name: 'reports',
    passwordSecret: { name: 'reports-password' },
    grants: [{ database: 'shop', schemas: [{ name: 'orders', tables: ['SELECT'] }] }],
  });
  await ready(postgresUsers, 'reports');
  await as('shop_owner', await passwordIn('shop-owner-login'), 'shop', 'create table orders.later (n int)');
  const statement = 'select count(*) from orders.item, orders.later';
  expect(await as('reports', 'the-first-one', 'shop', statement)).toBe('0');
  await expect(as('reports', 'the-first-one', 'shop', 'insert into orders.item values (1)')).rejects.toThrow(
    /permission denied for table item/,
  );
});

test('what somebody has changed is put right', async () => {
  await underPostgresWriters('databases and users put right', scenario, async () => {
    await onPrimary('alter database shop connection limit 3');
    await onPrimary('alter database shop owner to app');
    await onPrimary('alter role reports createdb connection limit 1');
    await onPrimary("alter role reports password 'of somebody else'");
    // It compares after a restart, and about every ten minutes.
    await operator.stop();
    operator = await stage.startOperator();
    const startedAt = performance.now();
    await until('all is as the specs say', async () => {
      const database = "select datconnlimit, pg_get_userbyid(datdba) from pg_database where datname = 'shop'";
      expect(await onPrimary(database)).toBe('20|shop_owner');
      const role = "select rolcreatedb, rolconnlimit from pg_roles where rolname = 'reports'";
      expect(await onPrimary(role)).toBe('f|-1');
      expect(await as('reports', 'the-first-one', 'shop', 'select 1')).toBe('1');
    });
    return `all put right ${((performance.now() - startedAt) / 1000).toFixed(1)} s after the operator has started`;
  });
});

test('the password changes with its Secret: open sessions go on, and new ones need the new one', async () => {
  const sleeping = as('reports', 'the-first-one', 'shop', 'select 1 from pg_sleep(20)');
  await until('its session is open', async () =>
    expect(await onPrimary("select count(*) from pg_stat_activity where usename = 'reports'")).toBe('1'),
  );
  await underPostgresWriters('password of a user changed', scenario, async () => {
    const password = { stringData: { password: 'the-second-one' } };
    await stage.client.mergePatch(refOf(secrets, 'reports-password'), password);
    const annotations = { 'clusterwright.dev/password-changed': 'now' };
    await stage.client.mergePatch(refOf(postgresUsers, 'reports'), { metadata: { annotations } });
    const changedAt = performance.now();
    await until('the new one is let in', () => as('reports', 'the-second-one', 'shop', 'select 1'));
    const after = ((performance.now() - changedAt) / 1000).toFixed(1);
    await expect(as('reports', 'the-first-one', 'shop', 'select 1')).rejects.toThrow(/password authentication failed/);
    expect(await sleeping).toBe('1');
    return `in force after ${after} s, the open session went on`;
  });
});

test('what cannot be done is said in words, and what can be is done', async () => {
  await create(postgresDatabases, 'tools', {
    name: 'tools',
    owner: 'shop_owner',
    extensions: [{ name: 'pageinspect' }, { name: 'citext' }],
  });
  const refused = await told(postgresDatabases, 'tools', 'StatementRefused');
  expect(refused).toMatch(/permission denied to create extension "pageinspect"/);
  const command = /psql -U postgres -d tools -c 'CREATE EXTENSION "pageinspect"'/;
  expect(refused).toMatch(command);
  expect(await as('shop_owner', await passwordIn('shop-owner-login'), 'tools', '\\dx citext')).toMatch(/citext/);
  const { metadata } = await cluster.primary();
  await cluster.shell(metadata.name, `"$PGBIN"/psql -U postgres -d tools -c 'CREATE EXTENSION "pageinspect"'`);
  await ready(postgresDatabases, 'tools');

  await create(postgresDatabases, 'tools-again', { name: 'tools', owner: 'shop_owner' });
  expect(await told(postgresDatabases, 'tools-again', 'NameTaken')).toMatch(/tools/);
  await remove(postgresDatabases, 'tools-again');
  await gone(postgresDatabases, 'tools-again');
  expect(await onPrimary("select count(*) from pg_database where datname = 'tools'")).toBe('1');
});

test('what was there before is left alone until the spec adopts it', async () => {
  await onPrimary('create database legacy owner app connection limit 5');
  await create(postgresDatabases, 'legacy', { name: 'legacy', owner: 'shop_owner' });
  expect(await told(postgresDatabases, 'legacy', 'AlreadyExists')).toMatch(/adopt/);
  const facts = "select datconnlimit, pg_get_userbyid(datdba) from pg_database where datname = 'legacy'";
  expect(await onPrimary(facts)).toBe('5|app');
  await stage.client.mergePatch(refOf(postgresDatabases, 'legacy'), { spec: { adopt: true, connectionLimit: 9 } });
  await ready(postgresDatabases, 'legacy');
  expect(await onPrimary(facts)).toBe('9|shop_owner');
});

test('Retain keeps a database, and its resource finds it again', async () => {
  await as('shop_owner', await passwordIn('shop-owner-login'), 'tools', 'create table kept as select 1 as n');
  await remove(postgresDatabases, 'tools');
  await gone(postgresDatabases, 'tools');
  await create(postgresDatabases, 'tools', { name: 'tools', owner: 'shop_owner', deletionPolicy: 'Delete' });
  await ready(postgresDatabases, 'tools');
  expect(await as('shop_owner', await passwordIn('shop-owner-login'), 'tools', 'select n from kept')).toBe('1');
});

test('Delete drops a database once nobody uses it, and a role that owns nothing', async () => {
  await underPostgresWriters('databases and users deleted', scenario, async () => {
    const password = await passwordIn('shop-owner-login');
    const sleeping = as('shop_owner', password, 'tools', 'select 1 from pg_sleep(15)');
    await until('its session is open', async () =>
      expect(await onPrimary("select count(*) from pg_stat_activity where datname = 'tools'")).toBe('1'),
    );
    await remove(postgresDatabases, 'tools');
    const inUse = await until('it says who uses it', async () => {
      const found = await readyOf(postgresDatabases, 'tools');
      expect(found?.message).toMatch(/database "tools" is being accessed by other users/);
      return found?.message ?? '';
    });
    expect(await sleeping).toBe('1');
    await gone(postgresDatabases, 'tools');
    expect(await onPrimary("select count(*) from pg_database where datname = 'tools'")).toBe('0');

    await stage.client.mergePatch(refOf(postgresUsers, 'reports'), { spec: { deletionPolicy: 'Delete' } });
    await ready(postgresUsers, 'reports');
    await remove(postgresUsers, 'reports');
    await gone(postgresUsers, 'reports');
    expect(await onPrimary("select count(*) from pg_roles where rolname = 'reports'")).toBe('0');

    await stage.client.mergePatch(refOf(postgresUsers, 'shop-owner'), { spec: { deletionPolicy: 'Delete' } });
    await ready(postgresUsers, 'shop-owner');
    await remove(postgresUsers, 'shop-owner');
    await until('it says what it owns', async () => {
      const found = await readyOf(postgresUsers, 'shop-owner');
      expect(found?.message).toMatch(/role "shop_owner" cannot be dropped because some objects depend on it/);
    });
    await pause(2000);
    expect(await onPrimary("select count(*) from pg_roles where rolname = 'shop_owner'")).toBe('1');
    return inUse.slice(0, 200);
  });
});

test('init.sql runs once, whatever the owner writes into the comment of the database', async () => {
  const sql = 'create table if not exists runs (at timestamptz); insert into runs values (now());';
  const other = await stage.createPostgres('i', { instances: 1, init: { sql } });
  await other.whole(1, { withinMs: 240_000 });
  const ask = (statement: string): Promise<string> => other.sql('i-0-0', statement);
  expect(await ask('select count(*) from runs')).toBe('1');
  for (const made of await listAll(stage.client, jobs, stage.namespace)) await removeByName(stage.client, made);
  await ask("set role app; comment on database app is 'of the shop'");
  await expect(ask('set role app; comment on role app is null')).rejects.toThrow('permission denied');
  await other.change({ parameters: { work_mem: '5MB' } });
  await until('the change is in force', async () => expect(await ask('show work_mem')).toBe('5MB'));
  await other.whole(1);
  expect(await ask('select count(*) from runs')).toBe('1');
  expect(await listAll(stage.client, jobs, stage.namespace)).toEqual([]);
  await other.remove();
});
