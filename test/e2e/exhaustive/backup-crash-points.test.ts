/**
 * Every write is a crash point, from a Backup over a restore to a last backup: the operator is killed after each, and
 * nothing is done twice, nothing is lost, and nothing is deleted too early.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupKind } from '../../../src/api/backup.ts';
import type { BackupStatus } from '../../../src/api/backup-status.ts';
import { jobs, persistentVolumeClaims } from '../../../src/api/resource.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { createBackup, ended } from '../../support/backups.ts';
import { childrenAtRest, killedAfterEveryWrite, reportCrashes, undisturbed } from '../../support/crash-points.ts';
import { type EtcdTestCluster, readKeys, writeKeys } from '../../support/etcd-test-cluster.ts';
import { listAll } from '../../support/kubernetes.ts';
import { connectRedis } from '../../support/redis-client.ts';
import { contentOf } from '../../support/redis-content.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let store: BackupStore;
let source: EtcdTestCluster;
let taken: BackupStatus;

beforeAll(async () => {
  stage = await openStage('backup-crashes');
  store = await openStore(stage);
  source = await stage.createEtcd('source', { replicas: 1 });
  await undisturbed(stage, () => source.whole(1, { withinMs: 0 }));
  await writeKeys(source, 'kept', 1);
});

afterAll(() => stage.close());

async function manifests(): Promise<number> {
  const target = await store.open();
  let count = 0;
  for await (const { key: name } of target.list('')) if (name.endsWith('/manifest.json')) count++;
  target.close();
  return count;
}

test('a Backup is taken once', async () => {
  await createBackup(stage, 'one', { cluster: { kind: 'EtcdCluster', name: 'source' }, target: store.target as never });
  const ref = { resource: backupKind.resource, namespace: stage.namespace, name: 'one' };
  const crashed = await killedAfterEveryWrite(stage, async () => {
    taken = ((await stage.client.get(ref)).status ?? {}) as BackupStatus;
    expect(taken.phase).toBe('Verified');
  });
  await reportCrashes('backup', [], crashed);
  expect(crashed.length).toBeGreaterThanOrEqual(3);
  expect(await manifests()).toBe(1);
});

test('a cluster that begins with it is formed once, and holds what it held', async () => {
  const restored = await stage.createEtcd('restored', {
    replicas: 1,
    deletionPolicy: 'Snapshot',
    backup: { target: store.target as never },
    bootstrap: { restore: { target: store.target as never, id: taken.id ?? '' } },
  });
  const crashed = await killedAfterEveryWrite(stage, () => restored.whole(1, { withinMs: 0 }));
  await reportCrashes('restore', [], crashed);
  expect(crashed.filter((write) => /POST .*\/jobs/.test(write)).length).toBe(1);
  expect(await readKeys(restored, 'kept')).toBe(1);
  const left = await listAll(stage.client, jobs, stage.namespace);
  expect(left.map(({ metadata }) => metadata.name)).toEqual(['backup-one']);

  await restored.remove();
  const ending = await killedAfterEveryWrite(stage, async () => {
    const isGone = await restored.object().then(
      () => false,
      (error) => isNotFound(error),
    );
    expect(isGone).toBe(true);
  });
  await reportCrashes('last backup', [], ending);
  const order = ending.map((write) => write.replace(/^(\S+) .*\/(\w+)(\/[^/]+)?$/, '$1 $2'));
  expect(order.indexOf('POST jobs'), ending.join('\n')).toBeGreaterThanOrEqual(0);
  expect(order.indexOf('DELETE statefulsets'), ending.join('\n')).toBeGreaterThan(order.indexOf('POST jobs'));
  expect(await manifests()).toBe(2);
  const claims = (await listAll(stage.client, persistentVolumeClaims, stage.namespace)).map(
    ({ metadata }) => metadata.name,
  );
  expect(claims.filter((name) => name.includes('restored'))).toEqual([]);
});

test('a Redis that begins with a backup is formed once, by the same writes, and holds what was backed up', async () => {
  const original = await stage.create('origin', { mode: 'Standalone', replicas: 1 });
  await undisturbed(stage, () => original.load('kept', 200));
  const entrance = await original.entrance();
  const connection = await connectRedis(entrance, 1000);
  await connection.command('HSET', 'a hash', 'field', 'value');
  await connection.command('SELECT', '1');
  await connection.command('RPUSH', 'a list', 'one', 'two');
  connection.close();
  const held = await contentOf(entrance);
  expect(Object.keys(held).length).toBe(202);
  await createBackup(stage, 'redis', {
    cluster: { kind: 'RedisCluster', name: 'origin' },
    target: store.target as never,
  });
  await undisturbed(stage, () => ended(stage, 'redis', 'Verified', { withinMs: 0 }));
  // Not in the backup.
  const missing = await original.load('later', 10);
  expect(await missing()).toEqual([]);

  const bootstrap = { restore: { target: store.target as never, cluster: { name: 'origin' } } };
  const size = { data: 3, sentinels: 3 };
  const steady = await stage.create('steady', { bootstrap });
  const without = await undisturbed(stage, () => steady.whole(size, { withinMs: 0 }));
  const shaken = await stage.create('shaken', { bootstrap });
  const crashed = await killedAfterEveryWrite(stage, () => shaken.whole(size, { withinMs: 0 }));
  await reportCrashes('redis restore', without, crashed);
  // How often a status is written depends on when somebody looks, and a node that starts late finds the primary itself.
  const ofObjects = (writes: readonly string[], name: string): readonly string[] =>
    writes
      .filter((write) => /^(POST|PATCH|PUT|DELETE) /.test(write) && !write.endsWith('/status'))
      .map((write) => write.replaceAll(name, 'NAME'))
      .sort();
  expect(ofObjects(crashed, 'shaken')).toEqual(ofObjects(without, 'steady'));
  expect(await childrenAtRest(stage, shaken)).toEqual(await childrenAtRest(stage, steady));
  for (const cluster of [steady, shaken]) expect(await contentOf(await cluster.entrance())).toEqual(held);
});
