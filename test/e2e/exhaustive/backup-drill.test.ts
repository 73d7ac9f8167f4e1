/**
 * `clusterwright backup verify` on real clusters, some of which let nobody in who does not say who they are: nor does
 * what is made of their backups, neither the throw-away cluster of a drill nor one that is there to stay.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets } from '../../../src/api/resource.ts';
import { verifyBackup } from '../../../src/cli/backup/verify.ts';
import type { CliContext } from '../../../src/cli/cli-context.ts';
import { connect } from '../../../src/cli/connection.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { claimOf } from '../../support/backup-store.ts';
import { createSchedule, runSchedule, scheduleStatus, takeBackup } from '../../support/backups.ts';
import { type Authority, openAuthority } from '../../support/etcd-certificates.ts';
import { askEtcd, type Shown } from '../../support/etcd-client.ts';
import { etcdTestCluster, writeKeys } from '../../support/etcd-test-cluster.ts';
import { handlers } from '../../support/handlers.ts';
import { listAll } from '../../support/kubernetes.ts';
import { testCluster } from '../../support/redis-cluster.ts';
import { etcdClusters, redisClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';
import { whileLooking } from '../../support/while-looking.ts';

let stage: Stage;
let authority: Authority;
const target = { claim: { name: 'archive' } };

beforeAll(async () => {
  stage = await openStage('backup-drill');
  authority = openAuthority();
  await stage.startOperator();
  await stage.client.create(claimOf(stage, 'archive'));
});

afterAll(async () => {
  authority.close();
  await stage.close();
});

interface DrillEnd {
  readonly code: number;
  readonly out: string;
  readonly seconds: number;
  /** Answers that somebody got meanwhile who says nothing of himself, by the throw-away cluster. */
  readonly strangers: number;
}

async function drill(name: string): Promise<DrillEnd> {
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
  const throwAway = etcdTestCluster(stage.client, stage.namespace, `${name.split('/').at(-1)}-drill`);
  let strangers = 0;
  const tryAll = async (): Promise<void> => {
    for (const { status } of await throwAway.pods()) {
      if (status?.podIP === undefined) continue;
      const answer = askEtcd(status.podIP, 'kv/range', { key: 'AA==' }, 500);
      strangers += await answer.then(
        () => 1,
        () => 0,
      );
    }
  };
  const startedAt = performance.now();
  const code = await whileLooking(tryAll, 50, () => verifyBackup({ name, timeout: 180, ask: 'direct' }, cli));
  return { code, out, seconds: (performance.now() - startedAt) / 1000, strangers };
}

async function left(): Promise<readonly string[]> {
  const found = await Promise.all(
    [etcdClusters, redisClusters].map((resource) => listAll(stage.client, resource, stage.namespace)),
  );
  return found.flat().map(({ metadata }) => metadata.name);
}

async function passwordOf(name: string): Promise<string> {
  const { data } = await stage.client.get({ resource: secrets, namespace: stage.namespace, name });
  return Buffer.from((data as Record<string, string>).password ?? '', 'base64').toString();
}

test('an etcd that asks for a password is tried, compared by its hash, and nothing is left', async () => {
  const cluster = await stage.createEtcd('e', { replicas: 1 });
  await cluster.whole(1, { withinMs: 120_000 });
  await writeKeys(cluster, 'kept', 50);
  const address = (await cluster.leader()).status?.podIP ?? '';
  await cluster.change({ auth: { enabled: true } });
  await until('nobody let in', async () => {
    await expect(askEtcd(address, 'kv/range', { key: 'AA==' })).rejects.toThrow(/user name is empty/);
  });
  await takeBackup(stage, 'of-e', { cluster: { kind: 'EtcdCluster', name: 'e' }, target });
  const { code, out, seconds, strangers } = await drill('of-e');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/hash +\d+ +\d+ +same/) });
  await recordResult({ scenario: 'etcd: drill', measured: `same after ${seconds.toFixed(1)} s` });
  expect([strangers, await left()]).toEqual([0, ['e']]);
});

test('a new cluster of three with its data waits for the old password of root, and gives it the new one', async () => {
  const cluster = await stage.createEtcd('again', {
    auth: { enabled: true },
    bootstrap: { restore: { target, cluster: { name: 'e' } } },
  });
  const said = await until(
    'it says what it waits for',
    async () => {
      expect(await cluster.ready()).toBe('False SecretMissing');
      return (await cluster.status()).conditions?.find(({ type }) => type === 'Ready')?.message;
    },
    { withinMs: 120_000 },
  );
  expect(said).toMatch(
    /the password that root had .*: add the old password to Secret again-root as the key password-previous/,
  );
  expect((await cluster.pods()).filter(({ metadata }) => !metadata.name.includes('-restore-')).length).toBe(1);
  const [old, fresh] = await Promise.all(['e-root', 'again-root'].map(passwordOf));
  expect(fresh).not.toBe(old);
  const startedAt = performance.now();
  const ref = { resource: secrets, namespace: stage.namespace, name: 'again-root' };
  await stage.client.mergePatch(ref, { stringData: { 'password-previous': old } });
  await until(
    'three members, and nobody waits for anything',
    async () => {
      expect(await cluster.ready()).toBe('True AllMembersReady');
      expect((await cluster.status()).members?.map(({ role }) => role === 'learner')).toEqual([false, false, false]);
    },
    { withinMs: 120_000 },
  );
  const [pod] = await cluster.pods();
  const host = pod?.status?.podIP ?? '';
  const login = (password = '') => askEtcd(host, 'auth/authenticate', { name: 'root', password });
  const token = await until('root has the new password', async () => String((await login(fresh)).token));
  await recordResult({
    scenario: 'etcd: restore of one with passwords',
    measured: `three members after ${((performance.now() - startedAt) / 1000).toFixed(1)} s with the old password`,
  });
  await expect(login(old)).rejects.toThrow('invalid user ID or password');
  await expect(askEtcd(host, 'kv/range', { key: 'AA==' })).rejects.toThrow(/user name is empty/);
  const range = { key: base64('kept/'), range_end: base64('kept0'), count_only: true };
  expect((await askEtcd(host, 'kv/range', range, 2000, { token })).count).toBe('50');
  await cluster.remove();
});

/** Certificates of a cluster of this name, in a Secret. */
async function issued(name: string) {
  const shown = authority.issue([], { name, namespace: stage.namespace });
  const data = Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, base64(value)]));
  const metadata = { name: `members-of-${name}`, namespace: stage.namespace };
  await stage.client.create({ apiVersion: 'v1', kind: 'Secret', metadata, data });
  return shown;
}

function shownBy(name: string) {
  const secretRef = { name: `members-of-${name}` };
  return { client: { secretRef }, peer: { secretRef } };
}

test('an etcd that asks for certificates is tried with its own, and lets no stranger in', async () => {
  const shown = await issued('t');
  const cluster = await stage.createEtcd('t', { replicas: 1, tls: shownBy('t'), auth: { enabled: true } });
  await until('it is ready', async () => expect(await cluster.ready()).toBe('True AllMembersReady'), {
    withinMs: 120_000,
  });
  const host = (await cluster.pods())[0]?.status?.podIP ?? '';
  const certificates: Shown = {
    tls: {
      ca: shown['ca.crt'],
      cert: shown['tls.crt'],
      key: shown['tls.key'],
      servername: `t-client.${stage.namespace}.svc`,
    },
  };
  const { token } = await until('root is let in', async () =>
    askEtcd(host, 'auth/authenticate', { name: 'root', password: await passwordOf('t-root') }, 2000, certificates),
  );
  const root = { ...certificates, token: String(token) };
  for (let n = 0; n < 50; n++) {
    await until('written', () => askEtcd(host, 'kv/put', { key: base64(`kept/${n}`) }, 2000, root));
  }
  await takeBackup(stage, 'of-t', { cluster: { kind: 'EtcdCluster', name: 't' }, target });
  const { code, out, seconds, strangers } = await drill('of-t');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/hash +\d+ +\d+ +same/) });
  await recordResult({ scenario: 'etcd: drill with TLS', measured: `same after ${seconds.toFixed(1)} s` });
  expect([strangers, await left()]).toEqual([0, ['e', 't']]);
});

test('a new cluster with its data waits for the old password, too', async () => {
  await issued('t2');
  const cluster = await stage.createEtcd('t2', {
    replicas: 1,
    tls: shownBy('t2'),
    auth: { enabled: true },
    bootstrap: { restore: { target, cluster: { name: 't' } } },
  });
  await until('it says so', async () => expect(await cluster.ready()).toBe('False SecretMissing'), {
    withinMs: 120_000,
  });
  const ref = { resource: secrets, namespace: stage.namespace, name: 't2-root' };
  await stage.client.mergePatch(ref, { stringData: { 'password-previous': await passwordOf('t-root') } });
  await until('it is ready', async () => expect(await cluster.ready()).toBe('True AllMembersReady'), {
    withinMs: 120_000,
  });
  await cluster.remove();
});

test('a Redis is tried, and its keys are counted', async () => {
  const cluster = await stage.create('r', { mode: 'Standalone', replicas: 1 });
  await until('data taken', () => cluster.load('kept', 100), { withinMs: 120_000 });
  await takeBackup(stage, 'of-r', { cluster: { kind: 'RedisCluster', name: 'r' }, target });
  const { code, out, seconds } = await drill('of-r');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/keys\.0 +100 +100 +same/) });
  await recordResult({ scenario: 'redis: drill', measured: `same after ${seconds.toFixed(1)} s` });
  expect(await left()).toEqual(['e', 't', 'r']);
});

test('of what a schedule took, the last good one is tried', async () => {
  await createSchedule(stage, 'daily', {
    cluster: { kind: 'RedisCluster', name: 'r' },
    schedule: '0 3 * * *',
    suspend: true,
    target,
  });
  await until('the schedule taken up', async () =>
    expect((await scheduleStatus(stage, 'daily')).phase).toBe('Suspended'),
  );
  const ran = async (job: string): Promise<void> => {
    await runSchedule(stage, 'daily', job);
    await until(`${job} verified`, async () =>
      expect((await scheduleStatus(stage, 'daily')).lastSuccess?.job).toBe(job),
    );
  };
  await ran('by-hand-1');
  await testCluster(stage.client, stage.namespace, 'r').load('more', 20);
  await ran('by-hand-2');
  const { code, out, seconds } = await drill('schedule/daily');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/keys\.0 +120 +120 +same/) });
  await recordResult({ scenario: 'redis: drill of a schedule', measured: `same after ${seconds.toFixed(1)} s` });
  expect(await left()).toEqual(['e', 't', 'r']);
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
