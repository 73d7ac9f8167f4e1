/** A NetworkPolicy of each kind, enforced: who connects to which port, and databases that work, fail over and are backed up behind it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { networkPolicies, pods as podResource } from '../../../src/api/resource.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { createBackup, ended } from '../../support/backups.ts';
import { attemptToConnect } from '../../support/connection-attempt.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const elsewhere = 'e2e-network-elsewhere';

let stage: Stage;
let redis: TestCluster;
let etcd: EtcdTestCluster;
let postgres: PostgresTestCluster;

beforeAll(async () => {
  stage = await openStage('network');
  await removeNamespace(stage.client, elsewhere);
  await until('the other namespace made', () => stage.client.create(restricted(elsewhere)));
  await stage.startOperator();
  redis = await stage.create('r', {
    replicas: 2,
    networkPolicy: { clients: [{ podSelector: { matchLabels: { app: 'web' } } }] },
  });
  etcd = await stage.createEtcd('e', { networkPolicy: {} });
  const labels = { 'kubernetes.io/metadata.name': elsewhere };
  postgres = await stage.createPostgres('p', {
    instances: 2,
    networkPolicy: { clients: [{ namespaceSelector: { matchLabels: labels } }], metrics: [] },
  });
  await wholes();
});
afterAll(async () => {
  await removeNamespace(stage.client, elsewhere);
  await stage.close();
});

async function wholes(): Promise<void> {
  await Promise.all([
    redis.whole({ data: 2, sentinels: 3 }, { withinMs: 180_000 }),
    etcd.whole(3, { withinMs: 180_000 }),
    postgres.whole(2, { withinMs: 240_000 }),
  ]);
}

async function addressOf(name: string): Promise<string> {
  const pod = (await stage.client.get({ resource: podResource, namespace: stage.namespace, name })) as Pod;
  return pod.status?.podIP ?? '';
}

const web = { app: 'web' };
type Row = readonly [
  who: 'here' | 'there',
  labels: Readonly<Record<string, string>>,
  pod: string,
  port: number,
  isOpen: boolean,
];

const rows: readonly Row[] = [
  ['here', web, 'r-0', 6379, true],
  ['here', web, 'r-sentinel-0', 26_379, true],
  ['here', {}, 'r-0', 6379, false],
  ['there', web, 'r-0', 6379, false],
  ['here', {}, 'e-0-0', 2379, true],
  ['there', {}, 'e-0-0', 2379, false],
  ['here', {}, 'e-0-0', 2380, false],
  ['there', {}, 'e-0-0', 2381, true],
  ['there', {}, 'p-0-0', 5432, true],
  ['here', {}, 'p-0-0', 5432, false],
  ['there', {}, 'p-0-0', 8008, false],
];

test('pods connect to the ports that the policies open to them, and to no others', async () => {
  const outcomes = await Promise.all(
    rows.map(async ([who, labels, pod, port]) => {
      const namespace = who === 'here' ? stage.namespace : elsewhere;
      return attemptToConnect(stage.client, { namespace, labels, host: await addressOf(pod), port });
    }),
  );
  expect(rows.map((row, i) => [...row.slice(0, 4), outcomes[i]])).toEqual(
    rows.map(([who, labels, pod, port, isOpen]) => [who, labels, pod, port, isOpen ? 'open' : 'timed out']),
  );
});

test('databases fail over behind them', async () => {
  const [ofRedis, ofPostgres] = [await redis.primary(), await postgres.primary()];
  for (const pod of [ofRedis, ofPostgres]) await removeByName(stage.client, pod, { gracePeriodSeconds: 0 });
  await until('another primary of Redis', async () => {
    expect((await redis.primary()).metadata.name).not.toBe(ofRedis.metadata.name);
  });
  await wholes();
});

test('backups are taken behind them', async () => {
  const { namespace, client } = stage;
  for (const name of ['r', 'p']) {
    const kind = name === 'r' ? 'RedisCluster' : 'PostgresCluster';
    await client.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: `${name}-backups`, namespace },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await createBackup(stage, name, { cluster: { kind, name }, target: { claim: { name: `${name}-backups` } } });
  }
  for (const name of ['r', 'p']) await ended(stage, name, 'Verified', { withinMs: 180_000 });
});

const policyOf = (name: string) => ({ resource: networkPolicies, namespace: stage.namespace, name });

test('a rule that somebody widens is put back', async () => {
  const before = (await stage.client.get(policyOf('r'))).spec;
  const ingress = [{ from: [{ namespaceSelector: {} }] }];
  await stage.client.mergePatch(policyOf('r'), { spec: { ingress } });
  await until('the rules as before', async () => expect((await stage.client.get(policyOf('r'))).spec).toEqual(before));
});

test('without the field there is no policy any more, and everybody connects', async () => {
  const started = (await redis.pods()).data.map(({ metadata }) => metadata.uid);
  await redis.change({ networkPolicy: null as never });
  await until('the policy gone', () => expect(stage.client.get(policyOf('r'))).rejects.toSatisfy(isNotFound));
  const target = { host: await addressOf('r-0'), port: 6379 };
  expect(await attemptToConnect(stage.client, { namespace: elsewhere, ...target })).toBe('open');
  expect((await redis.pods()).data.map(({ metadata }) => metadata.uid)).toEqual(started);
});
