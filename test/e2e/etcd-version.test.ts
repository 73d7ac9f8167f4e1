/** An etcd goes from one minor to the next and back under writers, each time after a backup that is kept in a real store. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { etcdVersions } from '../../src/engines/etcd/images.ts';
import { type BackupStore, openStore } from '../support/backup-store.ts';
import { askEtcd } from '../support/etcd-client.ts';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { underEtcdWriters } from '../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../support/etcd-test-cluster.ts';
import { replacedPods } from '../support/replaced-pods.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const five = etcdVersions.before.slice(1);
const six = etcdVersions.current.slice(1);

let stage: Stage;
let store: BackupStore;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-version');
  await stage.startOperator();
  store = await openStore(stage);
  cluster = await stage.createEtcd('e', { version: five, backup: { target: store.target as never } });
  await cluster.whole(3, { withinMs: 120_000 });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

interface Manifest {
  readonly purpose: { readonly type: string };
  readonly engineVersion: string;
  readonly completedAt: string;
}

/** Of all backups in the store, the oldest first. */
async function kept(): Promise<readonly Manifest[]> {
  const target = await store.open();
  const found: Manifest[] = [];
  for await (const { key } of target.list('')) {
    if (!key.endsWith('/manifest.json')) continue;
    let text = '';
    for await (const piece of target.get(key)) text += Buffer.from(piece).toString();
    found.push((JSON.parse(text) as { readonly manifest: Manifest }).manifest);
  }
  target.close();
  return found.sort((a, b) => (a.completedAt < b.completedAt ? -1 : 1));
}

/** The last backup is the only one since, and was verified before the first member restarted. */
async function expectBackupFirst(of: string, count: number): Promise<void> {
  const backups = await kept();
  expect(backups.map(({ purpose }) => purpose.type)).toEqual(Array(count).fill('version'));
  expect(backups.at(-1)?.engineVersion).toBe(of);
  const restarts = (await cluster.pods()).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
  // The API server's times are cut to the second.
  expect(Date.parse(backups.at(-1)?.completedAt ?? '')).toBeLessThan(Math.min(...restarts) + 1000);
}

async function expectVersion(version: string): Promise<void> {
  const { members = [] } = await cluster.status();
  expect(members.map((member) => member.version)).toEqual([version, version, version]);
}

describe('no acknowledged write is lost when', () => {
  test.each([
    ['3.5 to 3.6 after a backup', five, six],
    ["3.6 to 3.5 by etcd's own procedure, after a backup", six, five],
  ])('E6, E7: it goes from %s, one member at a time, the leader last', async (story, from, to) => {
    const taken = (await kept()).length;
    const leader = (await cluster.leader()).metadata.name;
    const { gapMs } = await underEtcdWriters(story, cluster, async () => {
      const order = await replacedPods(cluster.pods, async () => {
        await cluster.change({ version: to });
        await cluster.whole(3, { withinMs: 240_000 });
      });
      expect([order.length, order.at(-1)]).toEqual([3, leader]);
    });
    await expectVersion(to);
    await expectBackupFirst(from, taken + 1);
    expect(gapMs).toBeLessThan(5_000);
  });
});

test('a store that is down holds the version up, and nothing restarts; it goes on when the store is back', async () => {
  const before = (await cluster.pods()).map(({ metadata }) => metadata.uid);
  await store.stop();
  await cluster.change({ version: six });
  await until(
    'the status says why',
    async () => {
      const ready = (await cluster.status()).conditions?.find(({ type }) => type === 'Ready');
      expect(ready?.reason).toMatch(/^VersionBackup/);
      expect(ready?.message).toMatch(/failed: /);
    },
    { withinMs: 120_000 },
  );
  expect((await cluster.pods()).map(({ metadata }) => metadata.uid)).toEqual(before);
  const { version } = await askEtcd((await cluster.leader()).status?.podIP ?? '', 'maintenance/status');
  expect(version).toBe(five);
  await store.start();
  await cluster.whole(3, { withinMs: 240_000 });
  await expectVersion(six);
  await expectBackupFirst(five, 3);
});
