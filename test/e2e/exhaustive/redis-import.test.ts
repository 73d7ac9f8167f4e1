/** A RedisCluster whose data comes from a Redis that runs elsewhere, a plain pod, and is written to until the cut-over. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { pods as podResource } from '../../../src/api/resource.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import { cutOverAnnotation } from '../../../src/engines/redis/names.ts';
import { type Pod, podIsReady } from '../../../src/resources/children.ts';
import { containerSecurityContext, podSecurityContext } from '../../../src/resources/podsecurity.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { askRedis, connectRedis, type RedisAddress } from '../../support/redis-client.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { redisClusters } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const sourcePassword = 'of-the-source';
const old = { name: 'old', size: { data: 3, sentinels: 3 } };

let stage: Stage;
let source: RedisAddress;

beforeAll(async () => {
  await loadImages(['redis:7.0', 'redis:8.0'], { recipes }, createProgress());
  stage = await openStage('redis-import');
  await stage.startOperator();
  source = await startSource();
});
afterAll(() => stage.close());

async function startSource(): Promise<RedisAddress> {
  const { client, namespace } = stage;
  const ref = { resource: podResource, namespace, name: old.name };
  const container = {
    name: 'redis',
    image: imageReference('redis:7.0'),
    imagePullPolicy: 'IfNotPresent',
    command: ['redis-server', '--requirepass', sourcePassword, '--dir', '/tmp', '--save', ''],
    readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 1 },
    resources: { limits: { memory: '128Mi' } },
    securityContext: containerSecurityContext,
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'old-login', namespace },
      stringData: { password: sourcePassword },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: old.name, namespace, labels: { app: old.name } },
      spec: {
        automountServiceAccountToken: false,
        securityContext: podSecurityContext,
        containers: [container],
        volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } }],
      },
    },
  ];
  for (const object of objects) await client.create(object as KubeObject);
  const pod = await until('the source runs', async () => {
    const found = (await client.get(ref)) as Pod;
    if (!podIsReady(found)) throw new Error('it is not ready');
    return found;
  });
  return { host: pod.status?.podIP ?? '', port: 6379, password: sourcePassword };
}

async function reasonIs(cluster: TestCluster, wanted: string): Promise<void> {
  await until(
    `the cluster is ${wanted}`,
    async () => {
      const { conditions = [] } = ((await cluster.object()).status ?? {}) as {
        conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
      };
      const ready = conditions.find(({ type }) => type === 'Ready');
      if (ready?.reason !== wanted) throw new Error(`${ready?.reason}: ${ready?.message}`);
    },
    { withinMs: 120_000 },
  );
}

describe('a cluster that begins with a Redis elsewhere', () => {
  let cluster: TestCluster;
  let acknowledged = 0;

  test('follows it under a writer, also after its process was killed and while the operator restarts', async () => {
    const importFrom = { host: source.host, password: { name: 'old-login' } };
    const writer = await connectRedis(source, 1000);
    let isOver = false;
    const over = (async () => {
      while (!isOver) {
        await writer.command('SET', `key:${acknowledged}`, `value ${acknowledged}`);
        acknowledged += 1;
      }
    })();
    cluster = await stage.create('copy', { bootstrap: { importFrom } });
    await reasonIs(cluster, 'Following');
    expect((await cluster.pods()).data).toHaveLength(1);
    expect((await cluster.pods()).sentinels).toHaveLength(0);
    await killProcess({ namespace: stage.namespace, name: 'copy-0' });
    await reasonIs(cluster, 'Following');
    isOver = true;
    await over;
    writer.close();
  });

  test('becomes a cluster of its own, with all that was acknowledged', async () => {
    const { uid } = (await cluster.object()).metadata;
    const ref = { resource: redisClusters, namespace: stage.namespace, name: 'copy' };
    await stage.client.mergePatch(ref, { metadata: { annotations: { [cutOverAnnotation]: `verified@${uid}` } } });
    await cluster.whole(old.size, { withinMs: 180_000 });
    const entrance = await cluster.entrance();
    expect(await askRedis(entrance, 'DBSIZE')).toBe(acknowledged);
    expect(await askRedis(entrance, 'GET', `key:${acknowledged - 1}`)).toBe(`value ${acknowledged - 1}`);
    expect((await cluster.object()).metadata.annotations?.[cutOverAnnotation]).toBeUndefined();
    const lost = await cluster.load('new', 100);
    expect(await lost()).toEqual([]);
  });
});
