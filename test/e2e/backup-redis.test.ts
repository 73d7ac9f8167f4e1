/** A Redis is backed up to a real S3 server and to a claim, and comes back in new clusters. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupStatus } from '../../src/api/backup-status.ts';
import { type BackupStore, claimOf, openStore } from '../support/backup-store.ts';
import { takeBackup } from '../support/backups.ts';
import { askRedis } from '../support/redis-client.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let store: BackupStore;
let db: TestCluster;
let taken: BackupStatus;
const size = { data: 3, sentinels: 3 };
const keys = 2000;
const key = Buffer.alloc(32, 7).toString('base64');

beforeAll(async () => {
  stage = await openStage('backup-redis');
  await stage.startOperator();
  store = await openStore(stage);
  await stage.client.create(claimOf(stage, 'archive'));
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'key', namespace: stage.namespace },
    stringData: { key },
  });
  db = await stage.create('db');
  await db.whole(size, { withinMs: 120_000 });
  await db.load('kept', keys);
});

afterAll(() => stage.close());

/** What the new cluster holds of what the old one was given. */
async function missingIn(cluster: TestCluster): Promise<number> {
  const names = Array.from({ length: keys }, (_, n) => `kept:${n}`);
  const entrance = await cluster.entrance();
  // The Service's rules on the machines follow a moment after its endpoints.
  const values = await until('the entrance answers', () => askRedis(entrance, 'MGET', ...names));
  return names.filter((name, n) => !Array.isArray(values) || values[n] !== `value of ${name}`).length;
}

test('a Backup goes to S3, encrypted, and says what it is', async () => {
  const startedAt = performance.now();
  taken = await takeBackup(stage, 'first', {
    cluster: { kind: 'RedisCluster', name: 'db' },
    target: store.target as never,
    encryption: { secret: 'key' },
  });
  await recordResult({
    scenario: 'redis: backup to S3',
    measured: `Verified after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  });
  expect(taken).toMatchObject({ engine: 'redis', topology: '3 data nodes under Sentinel' });
  expect(taken.version).toMatch(/^8\.0/);
  expect(taken.size).toBeGreaterThan(keys * 10);
  expect(taken.checksum).toMatch(/^[0-9a-f]{64}$/);
  expect(stage.warnings).toEqual([]);
});

test('a new cluster begins with its data', async () => {
  const startedAt = performance.now();
  const restored = await stage.create('restored', {
    bootstrap: { restore: { target: store.target as never, encryption: { secret: 'key' }, id: taken.id ?? '' } },
  });
  await restored.whole(size, { withinMs: 180_000 });
  await recordResult({
    scenario: 'redis: restore from S3',
    measured: `Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  });
  expect(await missingIn(restored)).toBe(0);
  // It goes its own way from here on.
  const missing = await restored.load('new', 10);
  expect(await missing()).toEqual([]);
});

test('a Backup goes to a claim, and comes back from there', async () => {
  const target = { claim: { name: 'archive', path: 'team/a' } };
  const { id = '' } = await takeBackup(stage, 'second', { cluster: { kind: 'RedisCluster', name: 'db' }, target });
  const alone = await stage.create('alone', {
    mode: 'Standalone',
    replicas: 1,
    bootstrap: { restore: { target, id } },
  });
  await alone.whole({ data: 1, sentinels: 0 }, { withinMs: 120_000 });
  expect(await missingIn(alone)).toBe(0);
});
