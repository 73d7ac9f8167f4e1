/** Another password on real pods: one that is put into the Secret and taken back restarts nobody, one in another Secret comes pod by pod. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets } from '../../../src/api/resource.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { askRedis } from '../../support/redis-client.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

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

test('another Secret comes into the pods one at a time, and both passwords are accepted', async () => {
  const before = await cluster.pods();
  const password = await cluster.password();
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'other', namespace: stage.namespace },
    stringData: { password: 'yet another' },
  });
  await cluster.change({ auth: { secretRef: { name: 'other' } } });
  const uids = ({ data, sentinels }: typeof before): unknown[] =>
    [...data, ...sentinels].map((pod) => pod.metadata.uid);
  await until(
    'every pod has restarted',
    async () => {
      const now = uids(await cluster.pods());
      expect(now.filter((uid) => uids(before).includes(uid))).toEqual([]);
      await cluster.whole(size, { withinMs: 0 });
    },
    { withinMs: 300_000, everyMs: 500 },
  );
  const { data, sentinels } = await cluster.pods();
  for (const given of [password, 'yet another']) {
    for (const pod of [...data, ...sentinels]) {
      const port = pod.metadata.name.includes('-sentinel-') ? 26379 : 6379;
      expect(await askRedis({ host: pod.status?.podIP ?? '', port, password: given }, 'PING')).toBe('PONG');
    }
  }
});
