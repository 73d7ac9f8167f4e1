/** A PostgreSQL is backed up to a real S3 server and to a claim, comes back in new clusters, and ends with a last backup. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupStatus } from '../../src/api/backup-status.ts';
import { apiVersionOf } from '../../src/api/object.ts';
import { configMaps, persistentVolumeClaims } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { type PostgresSpecInput, postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import { type BackupStore, claimOf, openStore } from '../support/backup-store.ts';
import { takeBackup } from '../support/backups.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const { resource } = postgresKind;
const run = promisify(execFile);
let stage: Stage;
let store: BackupStore;
let taken: BackupStatus;

const small: PostgresSpecInput = { instances: 2, resources: { limits: { memory: '384Mi' } } };
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

async function create(name: string, spec: PostgresSpecInput): Promise<void> {
  const metadata = { name, namespace: stage.namespace };
  await stage.client.create({ apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec });
}

async function statusOf(name: string): Promise<ClusterStatus> {
  const { status = {} } = await stage.client.get({ resource, namespace: stage.namespace, name });
  return status as ClusterStatus;
}

const readyOf = ({ conditions = [] }: ClusterStatus) => conditions.find(({ type }) => type === 'Ready');

async function whole(name: string): Promise<void> {
  await until(
    `${name} ready`,
    async () => {
      const { status, reason, message } = readyOf(await statusOf(name)) ?? {};
      expect([status, reason], `${name}: ${message}`).toEqual(['True', 'AllMembersReady']);
    },
    { withinMs: 240_000 },
  );
}

/** As the superuser, of the primary, by its socket. */
async function sql(name: string, statement: string): Promise<string> {
  const { primary = '' } = await statusOf(name);
  const psql = ['/usr/lib/postgresql/17/bin/psql', '-X', '-At', '-v', 'ON_ERROR_STOP=1', '-h', '/var/run/postgresql'];
  const words = ['exec', primary, '-n', stage.namespace, '-c', 'postgres', '--', ...psql];
  const { stdout } = await run('kubectl', [...words, '-U', 'postgres', '-c', statement, 'app']);
  return stdout.trim();
}

const content = 'SELECT count(*), md5(string_agg(v, NULL ORDER BY n)) FROM kept';

beforeAll(async () => {
  stage = await openStage('backup-postgres');
  await stage.startOperator();
  store = await openStore(stage);
  await stage.client.create(claimOf(stage, 'archive'));
  await create('db', { ...small, backup: { target: store.target as never }, deletionPolicy: 'Snapshot' });
  await whole('db');
  await sql('db', 'CREATE TABLE kept AS SELECT n, md5(n::text) AS v FROM generate_series(1, 20000) AS n');
});

afterAll(() => stage.close());

test('a Backup goes to S3, read from a standby, and says what it is', async () => {
  const startedAt = performance.now();
  taken = await takeBackup(stage, 'first', {
    cluster: { kind: 'PostgresCluster', name: 'db' },
    target: store.target as never,
  });
  await recordResult({ scenario: 'postgres: backup to S3', measured: `Verified after ${seconds(startedAt)} s` });
  expect(taken).toMatchObject({ engine: 'postgres', contents: { systemId: expect.stringMatching(/^\d+$/) } });
  const { primary } = await statusOf('db');
  const { stdout } = await run('kubectl', ['logs', '-n', stage.namespace, 'job/backup-first']);
  expect(stdout).toMatch(/"role":"standby"/);
  expect(stdout).not.toContain(`"source":"${primary}.`);
  expect(stage.warnings).toEqual([]);
});

test('a new cluster begins with its data, and with a password of its own', async () => {
  const startedAt = performance.now();
  const restore = { target: store.target as never, id: taken.id ?? '' };
  await create('restored', { ...small, deletionPolicy: 'Delete', bootstrap: { restore } });
  await whole('restored');
  await recordResult({ scenario: 'postgres: restore from S3', measured: `Ready after ${seconds(startedAt)} s` });
  expect(await sql('restored', content)).toBe(await sql('db', content));
  const verifier = "SELECT rolpassword FROM pg_authid WHERE rolname = 'app'";
  expect(await sql('restored', verifier)).not.toBe(await sql('db', verifier));
  // Their histories have parted.
  await sql('restored', 'INSERT INTO kept VALUES (0, NULL)');
  expect(await sql('db', 'SELECT count(*) FROM kept')).toBe('20000');
});

test('a backup of another major version is refused in words, and the cluster can be deleted', async () => {
  const restore = { target: store.target as never, id: taken.id ?? '' };
  await create('newer', { version: '18', instances: 1, deletionPolicy: 'Delete', bootstrap: { restore } });
  await until('newer refused', async () =>
    expect(readyOf(await statusOf('newer'))).toMatchObject({
      reason: 'RestoreFailed',
      message: expect.stringMatching(/the backup is of postgres 17\.\d+, and the new cluster is to run 18/),
    }),
  );
  await gone('newer');
});

test('its deletion takes a last backup first, and then everything goes, with what Patroni remembers', async () => {
  await sql('db', "INSERT INTO kept VALUES (20001, 'last')");
  const startedAt = performance.now();
  await gone('db');
  await recordResult({ scenario: 'postgres: deleted under Snapshot', measured: `gone after ${seconds(startedAt)} s` });
  const { client, namespace } = stage;
  for (const kind of [persistentVolumeClaims, configMaps]) {
    const { items } = await client.list(kind, { namespace });
    const names = items.map(({ metadata }) => metadata.name).filter((name) => /^(data-)?db-/.test(name));
    expect(names).toEqual([]);
  }
  await gone('restored');
  // Of the old cluster, since nothing else names it.
  await create('db', { ...small, instances: 1, bootstrap: { restore: { target: store.target as never } } });
  await whole('db');
  expect(await sql('db', 'SELECT count(*), max(n) FROM kept')).toBe('20001|20001');
});

async function remove(name: string): Promise<void> {
  const ref = { resource, namespace: stage.namespace, name };
  const { uid = '' } = (await stage.client.get(ref)).metadata;
  await stage.client.remove({ ...ref, uid });
}

async function gone(name: string): Promise<void> {
  await remove(name);
  await until(`${name} gone`, () => expect(statusOf(name)).rejects.toSatisfy(isNotFound), { withinMs: 120_000 });
}
