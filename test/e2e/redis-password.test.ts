/** A password that the servers do not know, on real pods: nothing restarts, no Service loses its pods, a failover is followed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pods as podResource, secrets } from '../../src/api/resource.ts';
import type { Pod } from '../../src/resources/children.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('redis-password');
  await stage.startOperator();
  cluster = await stage.create('p', {});
  await cluster.whole(size, { withinMs: 120_000 });
});

afterAll(() => stage.close());

async function setPassword(password: string): Promise<void> {
  const { uid = '' } = (await stage.client.get({ resource: secrets, namespace: stage.namespace, name: 'p-auth' }))
    .metadata;
  const ref = { resource: secrets, namespace: stage.namespace, name: 'p-auth', uid };
  await stage.client.mergePatch(ref, { data: { password: Buffer.from(password).toString('base64') } });
}

/** Who runs, how often it was started, and whether traffic is led to it. */
async function lives(): Promise<unknown> {
  const { data, sentinels } = await cluster.pods();
  return [...data, ...sentinels].map(({ metadata, status }: Pod) => [
    metadata.uid,
    status?.containerStatuses?.[0]?.restartCount,
    status?.conditions?.find(({ type }) => type === 'Ready')?.status,
  ]);
}

const reasonNow = async (): Promise<string | undefined> => {
  const { status } = (await cluster.object()) as { status?: { conditions?: { type: string; reason: string }[] } };
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
};

test('an edited Secret kills nobody and empties no Service', async () => {
  const before = await lives();
  const password = await cluster.password();
  await setPassword('another');
  const end = Date.now() + 150_000;
  // The kubelet takes up to a minute to change the mounted file; liveness gave up after a minute more.
  while (Date.now() < end) {
    expect(await lives()).toEqual(before);
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
  await setPassword(password);
  await cluster.whole(size);
});

test('another Secret is told of, restarts nobody, and a failover meanwhile is followed', async () => {
  const before = await cluster.pods();
  const old = await cluster.primary();
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'other', namespace: stage.namespace },
    stringData: { password: 'another' },
  });
  await cluster.change({ auth: { secretRef: { name: 'other' } } });
  await until('PasswordUnknown', async () => expect(await reasonNow()).toBe('PasswordUnknown'));
  const [sentinel] = before.sentinels;
  if (sentinel === undefined) throw new Error('there is no sentinel');
  await cluster.ask(sentinel, 'SENTINEL', 'FAILOVER', 'p');
  await until('the label follows', async () => {
    const page = await stage.client.list(podResource, {
      namespace: stage.namespace,
      labelSelector: 'clusterwright.dev/role=primary',
    });
    const names = page.items.map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(1);
    expect(names).not.toContain(old.metadata.name);
  });
  await cluster.change({ auth: null } as never);
  await cluster.whole(size, { withinMs: 60_000 });
  const uids = ({ data, sentinels }: typeof before): unknown => [...data, ...sentinels].map((pod) => pod.metadata.uid);
  expect(uids(await cluster.pods())).toEqual(uids(before));
});
