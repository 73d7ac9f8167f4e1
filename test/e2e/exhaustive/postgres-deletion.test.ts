/** A PostgresCluster is deleted under Snapshot while its object store is away: it waits, serves and says why, and ends with a backup. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let store: BackupStore;
let db: PostgresTestCluster;

const small = { resources: { limits: { memory: '384Mi' } } };
const sql = async (statement: string): Promise<string> => await db.sql((await db.primary()).metadata.name, statement);

beforeAll(async () => {
  stage = await openStage('postgres-deletion');
  await stage.startOperator();
  store = await openStore(stage);
  const backup = { target: store.target as never };
  db = await stage.createPostgres('db', { ...small, instances: 2, backup, deletionPolicy: 'Snapshot' });
  await db.whole(2);
  await sql('CREATE TABLE kept AS SELECT n FROM generate_series(1, 20000) AS n');
});

afterAll(() => stage.close());

test('a deletion waits while the store is away, and says so', async () => {
  await store.stop();
  await db.remove();
  await until('the failed last backup told', async () => expect(await db.ready()).toBe('False LastBackupFailed'), {
    withinMs: 180_000,
  });
  expect(await sql('SELECT count(*) FROM kept')).toBe('20000');
});

test('with the store back, a last backup is verified, and everything goes', async () => {
  await sql('INSERT INTO kept VALUES (20001)');
  await store.start();
  await until('db gone', () => expect(db.status()).rejects.toSatisfy(isNotFound), { withinMs: 240_000 });
  const restore = { target: store.target as never };
  db = await stage.createPostgres('db', {
    ...small,
    instances: 1,
    deletionPolicy: 'Delete',
    bootstrap: { restore },
  });
  await db.whole(1);
  expect(await sql('SELECT count(*), max(n) FROM kept')).toBe('20001|20001');
});
