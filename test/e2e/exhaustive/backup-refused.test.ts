/**
 * What a restore refuses, on real pods and of both engines: a backup that somebody has changed, one of another engine,
 * one of another cluster. Nothing is made of it but the volume that would have been filled, and no member starts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupStatus } from '../../../src/api/backup-status.ts';
import { jobs, persistentVolumeClaims, pods, statefulSets } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { restoredAnnotation } from '../../../src/engine/backup-support.ts';
import { instanceLabel } from '../../../src/resources/metadata.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { etcdTestCluster, readKeys, writeKeys } from '../../support/etcd-test-cluster.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { copied, flipped } from '../../support/tampering.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let store: BackupStore;
let etcd: BackupStatus;
let redis: BackupStatus;
const encryption = { secret: 'key' };
const another = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  stage = await openStage('backup-refused');
  await stage.startOperator();
  store = await openStore(stage);
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'key', namespace: stage.namespace },
    stringData: { key: Buffer.alloc(32, 7).toString('base64') },
  });
  const [e, r] = await Promise.all([
    stage.createEtcd('e', { replicas: 1 }),
    stage.create('r', { mode: 'Standalone', replicas: 1 }),
  ]);
  await Promise.all([e.whole(1, { withinMs: 120_000 }), until('data taken', () => r.load('kept', 100))]);
  await writeKeys(e, 'kept', 100);
  const about = (kind: 'EtcdCluster' | 'RedisCluster', name: string) => ({ cluster: { kind, name } });
  [etcd, redis] = await Promise.all([
    takeBackup(stage, 'of-e', { ...about('EtcdCluster', 'e'), target: store.target as never }),
    takeBackup(stage, 'of-r', { ...about('RedisCluster', 'r'), target: store.target as never, encryption }),
  ]);
});

afterAll(() => stage.close());

interface Refused {
  readonly kind: 'EtcdCluster' | 'RedisCluster';
  readonly restore: object;
  /** The agent's. */
  readonly words: RegExp;
}

const under = (prefix: string): object => ({ target: { s3: { ...store.target.s3, prefix } } });

/** Each by the name of the cluster that is to begin with it. */
async function situations(): Promise<Readonly<Record<string, Refused>>> {
  const location = { etcd: etcd.location ?? '', redis: redis.location ?? '' };
  const moved = location.etcd.replace(/[^/]+(?=\/[^/]+$)/, another);
  const target = await store.open();
  await copied(target, location.etcd, `changed/${location.etcd}`, { data: flipped });
  await copied(target, location.redis, `changed/${location.redis}`, { data: flipped });
  await copied(target, location.etcd, `forged/${location.etcd}`, { 'manifest.json': older });
  await copied(target, location.etcd, `moved/${moved}`);
  target.close();
  const [ofEtcd, ofRedis] = [{ id: etcd.id }, { id: redis.id }];
  return {
    changed: { kind: 'EtcdCluster', restore: { ...under('changed'), ...ofEtcd }, words: /is not what was written/ },
    forged: { kind: 'EtcdCluster', restore: { ...under('forged'), ...ofEtcd }, words: /its seal does not fit it/ },
    moved: {
      kind: 'EtcdCluster',
      restore: { ...under('moved'), ...ofEtcd },
      words: /it belongs to .*, and was found in/,
    },
    others: {
      kind: 'EtcdCluster',
      restore: { target: store.target, cluster: { uid: another } },
      words: new RegExp(`there is no backup of an? EtcdCluster with the UID ${another}`),
    },
    'no-etcd': {
      kind: 'EtcdCluster',
      restore: { target: store.target, encryption, ...ofRedis },
      words: /is of the kind RedisCluster, and EtcdCluster is needed/,
    },
    'changed-too': {
      kind: 'RedisCluster',
      restore: { ...under('changed'), encryption, ...ofRedis },
      words: /is not what was written/,
    },
    'no-redis': {
      kind: 'RedisCluster',
      restore: { target: store.target, ...ofEtcd },
      words: /is of the kind EtcdCluster, and RedisCluster is needed/,
    },
  };
}

/** A later version would be refused for what it says. */
function older(manifest: Buffer): Buffer {
  return Buffer.from(manifest.toString('utf8').replace('"engineVersion": "3.6.', '"engineVersion": "3.5.'));
}

test('what was changed, forged or moved, and what is of somebody else, is refused in words, and nothing starts', async () => {
  const refused = await situations();
  const startedAt = performance.now();
  const made = await Promise.all(
    Object.entries(refused).map(async ([name, { kind, restore, words }]) => {
      const bootstrap = { restore: restore as never };
      const cluster =
        kind === 'EtcdCluster'
          ? await stage.createEtcd(name, { bootstrap })
          : await stage.create(name, { bootstrap: bootstrap as never });
      return { name, words, cluster };
    }),
  );
  await Promise.all(
    made.map(({ name, words, cluster }) =>
      until(
        `${name} blocked`,
        async () => {
          const { phase, plan, conditions = [] } = ((await cluster.object()).status ?? {}) as ClusterStatus;
          const ready = conditions.find(({ type }) => type === 'Ready');
          expect([phase, ready?.status, ready?.reason]).toEqual(['Blocked', 'False', 'RestoreFailed']);
          expect([ready?.message, plan?.blockedBy]).toEqual([
            expect.stringMatching(words),
            expect.stringMatching(words),
          ]);
        },
        { withinMs: 180_000, everyMs: 500 },
      ),
    ),
  );
  await recordResult({
    scenario: 'restores refused',
    measured: `${made.length} of ${made.length} Blocked after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  });
  for (const { name } of made) expect(await remains(name)).toEqual({ sets: [], claims: 1, filled: [], running: [] });
});

/** What there is of a cluster, its Job's pods apart. */
async function remains(name: string): Promise<object> {
  const of = async (resource: typeof pods) =>
    (await listAll(stage.client, resource, stage.namespace)).filter(
      ({ metadata }) => metadata.labels?.[instanceLabel] === name,
    );
  const [sets, claims, running] = await Promise.all([of(statefulSets), of(persistentVolumeClaims), of(pods)]);
  return {
    sets: sets.map(({ metadata }) => metadata.name),
    claims: claims.length,
    filled: claims.flatMap(({ metadata }) => metadata.annotations?.[restoredAnnotation] ?? []),
    running: running.map(({ metadata }) => metadata.name).filter((pod) => !pod.startsWith(`${name}-restore-`)),
  };
}

test('once the backup is what it was, and its Job is deleted, the same cluster begins with it', async () => {
  const target = await store.open();
  await copied(target, etcd.location ?? '', `changed/${etcd.location}`);
  target.close();
  const failed = (await listAll(stage.client, jobs, stage.namespace)).find(
    ({ metadata }) => metadata.name === 'changed-restore',
  );
  if (failed === undefined) throw new Error('there is no Job');
  const startedAt = performance.now();
  await removeByName(stage.client, failed, { propagation: 'Background' });
  const cluster = etcdTestCluster(stage.client, stage.namespace, 'changed');
  await cluster.whole(3, { withinMs: 120_000 });
  await recordResult({
    scenario: 'restore, after it was refused',
    measured: `Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  });
  expect(await readKeys(cluster, 'kept')).toBe(100);
});
