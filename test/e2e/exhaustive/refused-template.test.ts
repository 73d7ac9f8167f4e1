/** A PriorityClass that is not there: nobody restarts for the new template, and the rollout goes on once it is made. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { unitsOf } from '../../../src/api/quantity.ts';
import { pods as podResource, statefulSets } from '../../../src/api/resource.ts';
import type { Pod, StatefulSet } from '../../../src/resources/children.ts';
import { instanceLabel } from '../../../src/resources/metadata.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { statusOf } from '../../support/redis-view.ts';
import { priorityClasses, resourceQuotas } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('refused-template');
  await stage.startOperator();
});

afterAll(() => stage.close());

async function removeClass(name: string): Promise<void> {
  try {
    await removeByName(stage.client, await stage.client.get({ resource: priorityClasses, name }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

const classNamed = (name: string): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value: 1000,
});

async function podsOf(cluster: string): Promise<ReadonlyMap<string, Pod>> {
  const { namespace } = stage;
  const { items } = await stage.client.list(podResource, { namespace, labelSelector: `${instanceLabel}=${cluster}` });
  return new Map((items as Pod[]).map((pod) => [pod.metadata.name, pod]));
}

const uidsOf = (pods: ReadonlyMap<string, Pod>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries([...pods].map(([name, { metadata }]) => [name, metadata.uid]));

/** Of every StatefulSet of a cluster, how often Kubernetes has seen its spec change: a template that is refused is not written. */
async function generationsOf(cluster: string): Promise<Readonly<Record<string, number | undefined>>> {
  const { namespace } = stage;
  const { items } = await stage.client.list(statefulSets, { namespace, labelSelector: `${instanceLabel}=${cluster}` });
  return Object.fromEntries((items as StatefulSet[]).map(({ metadata }) => [metadata.name, metadata.generation]));
}

const classOf = (pod: Pod): unknown =>
  (pod.spec as { readonly priorityClassName?: string } | undefined)?.priorityClassName;

async function isSaid(read: () => Promise<KubeObject>, words: string): Promise<void> {
  await until(`the status says: ${words}`, async () => {
    const { phase, conditions = [], plan } = statusOf(await read());
    const refused = conditions.find(({ type }) => type === 'TemplateRefused');
    expect([phase, refused?.status, refused?.reason]).toEqual(['Blocked', 'True', 'Refused']);
    expect(refused?.message).toContain(words);
    expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'TemplateRefused',
    });
    expect(plan?.blockedBy).toBe(refused?.message);
  });
}

test('Redis: nobody restarts, a pod that is lost comes back, and with the class the rollout goes on', async () => {
  const name = 'e2e-refused-redis';
  await removeClass(name);
  const cluster = await stage.create('r');
  await cluster.whole(size, { withinMs: 120_000 });
  const before = await podsOf('r');
  const written = await generationsOf('r');
  await cluster.change({ scheduling: { priorityClassName: name } });
  await isSaid(() => cluster.object(), `is forbidden: no PriorityClass with name ${name} was found`);

  expect(await generationsOf('r')).toEqual(written);
  const [lost = ''] = [...before.keys()].filter((pod) => pod.includes('-sentinel-'));
  await removeByName(stage.client, await cluster.pod(lost));
  await until(
    `${lost} made again`,
    async () => {
      const now = await cluster.pod(lost);
      expect([now.metadata.uid === before.get(lost)?.metadata.uid, classOf(now)]).toEqual([false, undefined]);
      const { conditions = [] } = now.status ?? {};
      expect(conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
    },
    { withinMs: 60_000 },
  );
  await isSaid(() => cluster.object(), `is forbidden: no PriorityClass with name ${name} was found`);
  const others = ([pod]: readonly [string, unknown]): boolean => pod !== lost;
  const kept = Object.entries(uidsOf(before)).filter(others);
  expect(Object.entries(uidsOf(await podsOf('r'))).filter(others)).toEqual(kept);

  await stage.client.create(classNamed(name));
  await until(
    'every pod has the class',
    async () => {
      const classes = [...(await podsOf('r')).values()].map(classOf);
      expect(classes).toEqual(Array.from({ length: size.data + size.sentinels }, () => name));
    },
    { withinMs: 240_000, everyMs: 500 },
  );
  await cluster.whole(size, { withinMs: 60_000 });
  await removeClass(name);
});

test('etcd, with one member: it runs on, and with the class it restarts', async () => {
  const name = 'e2e-refused-etcd';
  await removeClass(name);
  const cluster = await stage.createEtcd('e', { replicas: 1 });
  await cluster.whole(1, { withinMs: 120_000 });
  const before = await podsOf('e');
  const written = await generationsOf('e');
  await cluster.change({ scheduling: { priorityClassName: name } });
  await isSaid(() => cluster.object(), `pods "e-0-0" is forbidden: no PriorityClass with name ${name} was found`);
  expect(await generationsOf('e')).toEqual(written);
  expect(uidsOf(await podsOf('e'))).toEqual(uidsOf(before));

  await stage.client.create(classNamed(name));
  await until(
    'the pod has the class',
    async () => {
      expect([...(await podsOf('e')).values()].map(classOf)).toEqual([name]);
    },
    { withinMs: 120_000, everyMs: 500 },
  );
  await cluster.whole(1, { withinMs: 60_000 });
  await removeClass(name);
});

test('a cluster that is created with a class that is not there says so, and comes up once it is', async () => {
  const name = 'e2e-refused-new';
  await removeClass(name);
  const cluster = await stage.create('n', { mode: 'Standalone', replicas: 1, scheduling: { priorityClassName: name } });
  await until('the status says so', async () => {
    const { phase, conditions = [] } = statusOf(await cluster.object());
    const refused = conditions.find(({ type }) => type === 'TemplateRefused');
    expect([phase, refused?.status]).toEqual(['Creating', 'True']);
    expect(refused?.message).toContain(`no PriorityClass with name ${name} was found`);
  });
  await stage.client.create(classNamed(name));
  await until(
    'the node is ready, and nothing is said any more',
    async () => {
      const { phase, conditions = [] } = statusOf(await cluster.object());
      expect([phase, conditions.some(({ type }) => type === 'TemplateRefused')]).toEqual(['Ready', false]);
    },
    { withinMs: 180_000 },
  );
  await removeClass(name);
});

test('Redis, with one node and a quota that is used up: it restarts where it fits, and only there', async () => {
  const { namespace, client } = stage;
  const cluster = await stage.create('q', {
    mode: 'Standalone',
    replicas: 1,
    resources: { limits: { memory: '256Mi' } },
  });
  await until(
    'the node is ready',
    async () => {
      expect(statusOf(await cluster.object()).phase).toBe('Ready');
    },
    { withinMs: 120_000 },
  );
  const hard = (memory: string): object => ({ spec: { hard: { 'limits.memory': memory } } });
  const quota = { resource: resourceQuotas, namespace, name: 'small' };
  const metadata = { name: 'small', namespace };
  await client.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, ...hard('100Gi') });
  const bytes = await until('the quota is counted', async () => {
    const { used = {} } = (await client.get(quota)).status as { readonly used?: Readonly<Record<string, string>> };
    expect(unitsOf(used['limits.memory'] ?? '0')).toBeGreaterThanOrEqual(unitsOf('256Mi'));
    return unitsOf(used['limits.memory'] ?? '0');
  });
  await client.mergePatch(quota, hard(String(bytes)));
  const uid = async (): Promise<string | undefined> => (await podsOf('q')).get('q-0')?.metadata.uid;
  const first = await uid();
  await cluster.change({ config: { 'io-threads': 2 } });
  await until(
    'the node has restarted',
    async () => {
      expect([(await uid()) === first, statusOf(await cluster.object()).phase]).toEqual([false, 'Ready']);
    },
    { withinMs: 120_000 },
  );

  const second = await uid();
  const written = await generationsOf('q');
  await cluster.change({ resources: { limits: { memory: '512Mi' } } });
  await isSaid(() => cluster.object(), 'exceeded quota: small, requested: limits.memory=512Mi');
  expect(await generationsOf('q')).toEqual(written);
  expect(await uid()).toBe(second);
  await client.mergePatch(quota, hard(String(bytes + unitsOf('256Mi'))));
  await until(
    'the node has more memory',
    async () => {
      const now = (await podsOf('q')).get('q-0');
      expect(now?.spec?.containers?.[0]?.resources?.limits?.memory).toBe('512Mi');
      expect(statusOf(await cluster.object()).phase).toBe('Ready');
    },
    { withinMs: 120_000 },
  );
});
