/**
 * A Redis Cluster is backed up while clients write, and comes back in a new one, with an operator that is killed after each of its writes. Then it is
 * resharded, and deleted with a last backup.
 */
import { Cluster as RedisClient } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupStatus } from '../../../src/api/backup-status.ts';
import { jobs, persistentVolumeClaims, services, statefulSets } from '../../../src/api/resource.ts';
import { verifyBackup } from '../../../src/cli/backup/verify.ts';
import type { CliContext } from '../../../src/cli/cli-context.ts';
import { connect } from '../../../src/cli/connection.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { killedAfterEveryWrite, reportCrashes, undisturbed } from '../../support/crash-points.ts';
import { handlers } from '../../support/handlers.ts';
import { listAll } from '../../support/kubernetes.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { statusOf } from '../../support/redis-view.ts';
import { recordResult } from '../../support/results.ts';
import { openShardsLedger } from '../../support/shards-ledger.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const patient = 900_000;
const keys = Array.from({ length: 500 }, (_, n) => `kept:${n}`);
const key = Buffer.alloc(32, 7).toString('base64');
const encryption = { secret: 'key' };
const storage = { size: '1Gi' };

let stage: Stage;
let store: BackupStore;
let source: TestCluster;
let taken: BackupStatus;

beforeAll(async () => {
  stage = await openStage('redis-cluster-backup');
  store = await openStore(stage);
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'key', namespace: stage.namespace },
    stringData: { key },
  });
  source = await stage.create('c', { mode: 'Cluster', storage });
  await undisturbed(stage, () => whole(source, 3, 1));
});
afterAll(() => stage.close());

const restore = () => ({ restore: { target: store.target as never, encryption, id: taken.id ?? '' } });

async function whole(cluster: TestCluster, shards: number, replicas: number): Promise<void> {
  const object = await cluster.object();
  const { phase, members = [], conditions } = statusOf(object);
  const ready = conditions?.find(({ type }) => type === 'Ready');
  expect({ phase, words: ready?.message }).toMatchObject({ phase: 'Ready' });
  expect(members.filter(({ role }) => role === 'primary')).toHaveLength(shards);
  const { data } = await cluster.pods();
  expect(data).toHaveLength(shards * (replicas + 1));
  for (const pod of data) expect(String(await cluster.ask(pod, 'CLUSTER', 'INFO'))).toMatch(/cluster_slots_ok:16384/);
}

/** Where clients begin. */
async function entrance({ name }: TestCluster): Promise<string> {
  const service = await stage.client.get({ resource: services, namespace: stage.namespace, name: `${name}-nodes` });
  return (service.spec as { readonly clusterIP: string }).clusterIP;
}

async function asClient<T>(cluster: TestCluster, use: (client: RedisClient) => Promise<T>): Promise<T> {
  const redisOptions = { password: await cluster.password(), commandTimeout: 5_000 };
  const client = new RedisClient([{ host: await entrance(cluster), port: 6379 }], { redisOptions, lazyConnect: true });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

const missingIn = (cluster: TestCluster): Promise<readonly string[]> =>
  asClient(cluster, async (client) => {
    const values = await Promise.all(keys.map((each) => client.get(each)));
    return keys.filter((each, n) => values[n] !== `value of ${each}`);
  });

test(
  'a Backup is taken while clients write, and nobody notices',
  async () => {
    await asClient(source, (client) => Promise.all(keys.map((each) => client.set(each, `value of ${each}`))));
    const operator = await stage.startOperator();
    const ledger = await openShardsLedger({
      ...{ host: await entrance(source), password: await source.password(), writers: 12, run: 'during' },
    });
    const began = performance.now();
    taken = await takeBackup(stage, 'first', {
      ...{ cluster: { kind: 'RedisCluster', name: 'c' }, target: store.target as never, encryption },
    });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const { acknowledged, lost } = await ledger.close();
    await recordResult({
      ...{ scenario: 'Redis Cluster: backup to S3', acknowledged, lost: lost.length },
      measured: `Verified after ${seconds} s`,
    });
    expect(lost).toEqual([]);
    expect(taken).toMatchObject({ topology: '3 shards of 2 nodes', contents: { shards: '3' } });
    expect(Number(taken.contents?.['keys.0'])).toBeGreaterThanOrEqual(keys.length);
    expect(stage.warnings).toEqual([]);
    // The next test has operators of its own.
    await operator.kill();
  },
  patient,
);

test(
  'a new cluster begins with it, and is formed once, whenever the operator is killed',
  async () => {
    const restored = await stage.create('r', { mode: 'Cluster', storage, replicasPerShard: 1, bootstrap: restore() });
    const crashed = await killedAfterEveryWrite(stage, () => whole(restored, 3, 1));
    await reportCrashes('Redis Cluster: restore', [], crashed);
    expect(crashed.filter((write) => /POST .*\/jobs/.test(write))).toHaveLength(3);
    const sets = crashed.findIndex((write) => /POST .*\/statefulsets/.test(write));
    const lastJob = crashed.map((write) => /POST .*\/jobs/.test(write)).lastIndexOf(true);
    expect(lastJob).toBeLessThan(sets);
    expect(await missingIn(restored)).toEqual([]);
    const slots = async (cluster: TestCluster) =>
      (statusOf(await cluster.object()).members ?? []).flatMap(({ slots: own }) => own ?? []);
    expect(await slots(restored)).toEqual(await slots(source));
    await until('the Jobs are gone', async () => {
      const left = (await listAll(stage.client, jobs, stage.namespace)).map(({ metadata }) => metadata.name);
      expect(left.filter((name) => name.startsWith('r-restore'))).toEqual([]);
    });

    await stage.startOperator();
    await restored.change({ shards: 4 });
    await until('four shards', () => whole(restored, 4, 1), { withinMs: 300_000 });
    expect(await missingIn(restored)).toEqual([]);
  },
  patient,
);

test(
  'another number of shards is refused, and nothing is made of it',
  async () => {
    const other = await stage.create('w', { mode: 'Cluster', storage, shards: 5, bootstrap: restore() });
    await until('it is refused', async () => {
      const { phase, conditions } = statusOf(await other.object());
      expect(phase).toBe('Blocked');
      expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
        reason: 'RestoreFailed',
        message: expect.stringMatching(/of 3 shards, and the new one has 5: restore it into 3 shards/),
      });
    });
    const ofIt = async (resource: typeof statefulSets) =>
      (await listAll(stage.client, resource, stage.namespace))
        .map(({ metadata }) => metadata.name)
        .filter((name) => /^(data-)?w-/.test(name));
    expect(await ofIt(statefulSets)).toEqual([]);
    expect(await ofIt(persistentVolumeClaims)).toEqual(['data-w-s0-0']);
    await other.remove();
    await until('its volume has gone with it', async () => expect(await ofIt(persistentVolumeClaims)).toEqual([]));
  },
  patient,
);

test(
  'a drill makes a cluster of as many shards, compares it, and leaves nothing',
  async () => {
    let out = '';
    const never = (): never => {
      throw new Error('not used');
    };
    const cli: CliContext = {
      env: process.env,
      program: 'clusterwright',
      command: 'clusterwright',
      stdout: (text) => {
        out += text;
      },
      stderr: () => undefined,
      readText: never,
      readFolder: never,
      images: never,
      readStdin: never,
      connect: (wanted) => connect({ ...wanted, kubeconfig: stage.kubeconfig }, process.env),
      dial: dialTcp,
      handlers: () => Promise.resolve(handlers),
      agent: () => Promise.reject(new Error('a drill needs none')),
      now: () => Date.now(),
    };
    expect(await verifyBackup({ name: 'first', timeout: 300, ask: 'direct' }, cli), out).toBe(0);
    expect(out).toMatch(/shards +3 +3 +same/);
    const left = await listAll(stage.client, persistentVolumeClaims, stage.namespace);
    expect(left.filter(({ metadata }) => metadata.name.includes('drill'))).toEqual([]);
  },
  patient,
);

test(
  'a last backup is taken before a Redis Cluster goes',
  async () => {
    await source.change({ deletionPolicy: 'Snapshot', backup: { target: store.target as never, encryption } });
    await source.remove();
    await until(
      'it is gone',
      async () => {
        const isGone = await source.object().then(
          () => false,
          (error) => isNotFound(error),
        );
        expect(isGone).toBe(true);
      },
      { withinMs: 300_000 },
    );
    const target = await store.open();
    const manifests: string[] = [];
    for await (const { key: name } of target.list('')) if (name.endsWith('/manifest.json')) manifests.push(name);
    target.close();
    expect(manifests).toHaveLength(2);
  },
  patient,
);
