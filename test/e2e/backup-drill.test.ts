/** `clusterwright backup verify` on real clusters: one of them lets nobody in who does not say who they are. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyBackup } from '../../src/cli/backup/verify.ts';
import { connect } from '../../src/cli/connection.ts';
import type { Surroundings } from '../../src/cli/surroundings.ts';
import { dialTcp } from '../../src/runtime/engine-io.ts';
import { claimOf } from '../support/backup-store.ts';
import { takeBackup } from '../support/backups.ts';
import { askEtcd } from '../support/etcd-test-cluster.ts';
import { listAll } from '../support/kubernetes.ts';
import { etcdClusters, redisClusters } from '../support/resources.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
const target = { claim: { name: 'archive' } };

beforeAll(async () => {
  stage = await openStage('backup-drill');
  await stage.startOperator();
  await stage.client.create(claimOf(stage, 'archive'));
});

afterAll(() => stage.close());

async function drill(name: string): Promise<{ readonly code: number; readonly out: string; readonly seconds: number }> {
  let out = '';
  const never = (): never => {
    throw new Error('not used');
  };
  const around: Surroundings = {
    env: process.env,
    program: 'clusterwright',
    command: 'clusterwright',
    stdout: (text) => {
      out += text;
    },
    stderr: () => undefined,
    readText: never,
    readStdin: never,
    connect: (wanted) => connect({ ...wanted, kubeconfig: stage.kubeconfig }, process.env),
    dial: dialTcp,
    now: () => Date.now(),
  };
  const startedAt = performance.now();
  const code = await verifyBackup({ name, timeout: 180, ask: 'direct' }, around);
  return { code, out, seconds: (performance.now() - startedAt) / 1000 };
}

test('an etcd that asks for a password is tried, compared by its hash, and nothing is left', async () => {
  const cluster = await stage.createEtcd('e', { replicas: 1 });
  await cluster.whole(1, { withinMs: 120_000 });
  const address = (await cluster.leader()).status?.podIP ?? '';
  for (let n = 0; n < 50; n++)
    await askEtcd(address, 'kv/put', { key: Buffer.from(`k${n}`).toString('base64'), value: '' });
  await cluster.change({ auth: { enabled: true } });
  await until('nobody let in', async () => {
    await expect(askEtcd(address, 'kv/range', { key: 'AA==' })).rejects.toThrow(/user name is empty/);
  });
  await takeBackup(stage, 'of-e', { cluster: { kind: 'EtcdCluster', name: 'e' }, target });
  const { code, out, seconds } = await drill('of-e');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/hash +\d+ +\d+ +same/) });
  await recordResult({ scenario: 'etcd: drill', measured: `same after ${seconds.toFixed(1)} s` });
  const left = await listAll(stage.client, etcdClusters, stage.namespace);
  expect(left.map(({ metadata }) => metadata.name)).toEqual(['e']);
});

test('a Redis is tried, and its keys are counted', async () => {
  const cluster = await stage.create('r', { mode: 'Standalone', replicas: 1 });
  await until('data taken', () => cluster.load('kept', 100), { withinMs: 120_000 });
  await takeBackup(stage, 'of-r', { cluster: { kind: 'RedisCluster', name: 'r' }, target });
  const { code, out, seconds } = await drill('of-r');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/keys\.0 +100 +100 +same/) });
  await recordResult({ scenario: 'redis: drill', measured: `same after ${seconds.toFixed(1)} s` });
  expect((await listAll(stage.client, redisClusters, stage.namespace)).length).toBe(1);
});
