/** An etcd is backed up to a real S3 server and to a claim, and comes back in new clusters. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupStatus } from '../../src/api/backup-status.ts';
import { type BackupStore, claimOf, openStore } from '../support/backup-store.ts';
import { takeBackup } from '../support/backups.ts';
import { askEtcd } from '../support/etcd-client.ts';
import { type EtcdTestCluster, writeKeys } from '../support/etcd-test-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let store: BackupStore;
let db: EtcdTestCluster;
let taken: BackupStatus;
const keys = 300;
const text = (value: string): string => Buffer.from(value).toString('base64');

beforeAll(async () => {
  stage = await openStage('backup-etcd');
  await stage.startOperator();
  store = await openStore(stage);
  await stage.client.create(claimOf(stage, 'archive'));
  db = await stage.createEtcd('db');
  await db.whole(3, { withinMs: 120_000 });
  await writeKeys(db, 'kept', keys);
});

afterAll(() => stage.close());

async function contentOf(
  cluster: EtcdTestCluster,
): Promise<{ readonly rows: readonly string[]; readonly revision: bigint }> {
  const address = (await cluster.leader()).status?.podIP ?? '';
  const { kvs, header } = (await askEtcd(address, 'kv/range', {
    key: text('kept/'),
    range_end: text('kept0'),
  })) as { kvs?: readonly { key: string; value: string }[]; header: { revision: string } };
  return { rows: (kvs ?? []).map(({ key, value }) => `${key}=${value}`), revision: BigInt(header.revision) };
}

test('a Backup goes to S3 and says what it is', async () => {
  const startedAt = performance.now();
  taken = await takeBackup(stage, 'first', {
    cluster: { kind: 'EtcdCluster', name: 'db' },
    target: store.target as never,
  });
  await recordResult({
    scenario: 'etcd: backup to S3',
    measured: `Verified after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  });
  expect(taken).toMatchObject({ engine: 'etcd', topology: '3 members' });
  expect(stage.warnings).toEqual([]);
});

test('a new cluster of three begins with its data, at a revision that nobody has seen', async () => {
  const startedAt = performance.now();
  const restored = await stage.createEtcd('restored', {
    bootstrap: { restore: { target: store.target as never, id: taken.id ?? '' } },
  });
  await restored.whole(3, { withinMs: 180_000 });
  await recordResult({
    scenario: 'etcd: restore from S3',
    measured: `Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  });
  const [before, after] = [await contentOf(db), await contentOf(restored)];
  expect(after.rows.length).toBe(keys);
  expect(after.rows).toEqual(before.rows);
  expect(after.revision).toBeGreaterThan(before.revision);
});

test('a Backup goes to a claim, and comes back from there as it was', async () => {
  const target = { claim: { name: 'archive' } };
  const { id = '' } = await takeBackup(stage, 'second', { cluster: { kind: 'EtcdCluster', name: 'db' }, target });
  const alone = await stage.createEtcd('alone', {
    replicas: 1,
    bootstrap: { restore: { target, id, bumpRevision: false } },
  });
  await alone.whole(1, { withinMs: 120_000 });
  const [before, after] = [await contentOf(db), await contentOf(alone)];
  expect(after.rows).toEqual(before.rows);
});
