/** What a spec adds to the pods of each kind, and Services for clients outside: with another user, labels and a port on the nodes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { pods as podResource, services } from '../../../src/api/resource.ts';
import { containerSecurityContext, podSecurityContext } from '../../../src/resources/podsecurity.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { exchangeOver } from '../../../src/runtime/http-exchange.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { askRedis } from '../../support/redis-client.ts';
import { imageOf, type TestCluster } from '../../support/redis-cluster.ts';
import { nodes } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

/** As the first of a range of OpenShift. No image has an entry for it. */
const uid = 1_000_650_000;

let stage: Stage;
let redis: TestCluster;
let etcd: EtcdTestCluster;
let postgres: PostgresTestCluster;

beforeAll(async () => {
  stage = await openStage('pods');
  await stage.startOperator();
  redis = await stage.create('r', {
    replicas: 2,
    pods: { uid },
    scheduling: { zoneSpread: 'Required' },
    access: { primary: { type: 'NodePort', annotations: { 'example.com/note': 'a' } } },
  });
  etcd = await stage.createEtcd('e', { pods: { uid }, access: { clients: { type: 'NodePort' } } });
  postgres = await stage.createPostgres('p', { instances: 2, pods: { uid } });
  await Promise.all([
    redis.whole({ data: 2, sentinels: 3 }, { withinMs: 180_000 }),
    etcd.whole(3, { withinMs: 180_000 }),
    postgres.whole(2, { withinMs: 240_000 }),
  ]);
});
afterAll(() => stage.close());

type Described = KubeObject & { readonly spec: { readonly securityContext?: { readonly runAsUser?: number } } };

async function allPods(): Promise<readonly Described[]> {
  return (await stage.client.list(podResource, { namespace: stage.namespace }))
    .items as unknown as readonly Described[];
}

test('every pod runs as the user that the spec names', async () => {
  const found = await allPods();
  expect(found).toHaveLength(2 + 3 + 3 + 2);
  expect(new Set(found.map(({ spec }) => spec.securityContext?.runAsUser))).toEqual(new Set([uid]));
  const own = await postgres.shell(
    (await postgres.primary()).metadata.name,
    'id -un; stat -c %u /var/lib/postgresql/data',
  );
  expect(own).toBe(`postgres\n${uid}`);
});

type Node = KubeObject & {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
};

/** The port of the Service on the last node. */
async function portOf(name: string): Promise<{ readonly host: string; readonly port: number }> {
  const service = await stage.client.get({ resource: services, namespace: stage.namespace, name });
  const [port] = (service.spec as { readonly ports: readonly { readonly nodePort: number }[] }).ports;
  const node = (await stage.client.list(nodes, {})).items.at(-1) as Node | undefined;
  const host = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
  return { host, port: port?.nodePort ?? 0 };
}

test('clients outside reach the primary of Redis, and the members of etcd, at a port of any node', async () => {
  const [atRedis, atEtcd] = [await portOf('r-primary-external'), await portOf('e-client-external')];
  const password = await redis.password();
  await until('Redis answers', async () => {
    expect(String(await askRedis({ ...atRedis, password }, 'ROLE'))).toContain('master');
  });
  await until('etcd answers', async () => {
    const request = { ...atEtcd, method: 'GET', path: '/version', signal: AbortSignal.timeout(2000) } as const;
    expect((await exchangeOver(dialTcp, request)).body).toContain('etcdserver');
  });
});

test('labels that are added reach every pod, one restart after the other, and the Service goes when nobody asks for it', async () => {
  const added = { labels: { team: 'shop' }, annotations: { 'example.com/a': 'b' } };
  await redis.change({ pods: { uid, ...added }, access: null as never });
  await etcd.change({ pods: { uid, ...added } });
  await postgres.change({ pods: { uid, ...added } });
  const isLabelled = async (): Promise<void> => {
    for (const { metadata } of await allPods()) {
      expect(metadata).toMatchObject({
        labels: { team: 'shop' },
        annotations: { 'example.com/a': 'b' },
      });
    }
  };
  await until('all pods labelled', isLabelled, { withinMs: 600_000 });
  await Promise.all([redis.whole({ data: 2, sentinels: 3 }), etcd.whole(3), postgres.whole(2, { withinMs: 120_000 })]);
  const external = { resource: services, namespace: stage.namespace, name: 'r-primary-external' };
  await until('the Service gone', () => expect(stage.client.get(external)).rejects.toSatisfy(isNotFound));
});

/** As an implementation of servicebinding.io projects it, with nothing but what is in the Secret. */
function workload(name: string, image: string, secretName: string, command: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: stage.namespace },
    spec: {
      restartPolicy: 'Never',
      securityContext: podSecurityContext,
      containers: [
        {
          name: 'application',
          image,
          command: ['sh', '-ec', command],
          securityContext: containerSecurityContext,
          volumeMounts: [{ name: 'binding', mountPath: '/bindings/db', readOnly: true }],
        },
      ],
      volumes: [{ name: 'binding', secret: { secretName } }],
    },
  };
}

test('a workload connects with the mounted Secret of status.binding alone', async () => {
  const bindingOf = async (cluster: { object(): Promise<KubeObject> }): Promise<string> =>
    ((await cluster.object()).status as { readonly binding: { readonly name: string } }).binding.name;
  const isOf = (type: string): string => `test "$(cat /bindings/db/type)" = ${type}`;
  const onRedis = `${isOf('redis')}; test "$(redis-cli -u "$(cat /bindings/db/uri)" ping)" = PONG`;
  const onPostgres = `${isOf('postgresql')}; /usr/lib/postgresql/17/bin/psql "$(cat /bindings/db/uri)" -c 'create table t ()'`;
  await stage.client.create(workload('on-redis', imageOf('8.0'), await bindingOf(redis), onRedis));
  await stage.client.create(
    workload('on-postgres', imageReference('postgres:17'), await bindingOf(postgres), onPostgres),
  );
  for (const name of ['on-redis', 'on-postgres']) {
    await until(`${name} done`, async () => {
      const { status } = await stage.client.get({ resource: podResource, namespace: stage.namespace, name });
      expect((status as { readonly phase?: string }).phase).toBe('Succeeded');
    });
  }
});
