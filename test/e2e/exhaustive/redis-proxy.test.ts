/** The proxy of a living cluster: it comes under writers, leads them to a new primary while the operator is away, and goes again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pods as podResource, services } from '../../../src/api/resource.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { removeByName } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { redisClusters } from '../../support/resources.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;
let operator: OperatorProcess;

beforeAll(async () => {
  await loadImages(['haproxy:3.0'], { recipes }, createProgress());
  stage = await openStage('redis-proxy');
  operator = await stage.startOperator();
  cluster = await stage.create('p', {});
  await cluster.whole(size, { withinMs: 120_000 });
});
afterAll(() => stage.close());

async function proxies(): Promise<readonly Pod[]> {
  const selector = { namespace: stage.namespace, labelSelector: 'app.kubernetes.io/component=proxy' };
  return (await stage.client.list(podResource, selector)).items as Pod[];
}

async function ledTo(): Promise<string | undefined> {
  const found = await stage.client.get({ resource: services, namespace: stage.namespace, name: 'p-primary' });
  return (found.spec as { selector: Record<string, string> }).selector['app.kubernetes.io/component'];
}

const led = (to: string): Promise<void> =>
  until(`clients are led to ${to}`, async () => expect(await ledTo()).toBe(to), { withinMs: 300_000, everyMs: 500 });

test('it comes under writers: nobody waits, and no member restarts', async () => {
  const before = (await cluster.pods()).data.map(({ metadata }) => metadata.uid);
  await underWriters('proxy switched on', stage.client, cluster, async () => {
    await cluster.change({ proxy: {} });
    await led('proxy');
  });
  expect((await cluster.pods()).data.map(({ metadata }) => metadata.uid)).toEqual(before);
});

test('without an operator, writers get to the next primary, also while proxies are replaced', async () => {
  await operator.stop();
  const first = await cluster.primary();
  const { gapMs } = await underWriters('primary killed, no operator', stage.client, cluster, async () => {
    await killProcess({ namespace: stage.namespace, name: first.metadata.name });
    await until('another primary', async () => {
      expect((await cluster.primary()).metadata.name).not.toBe(first.metadata.name);
    });
  });
  expect(gapMs).toBeLessThan(7_500);
  await underWriters('proxies replaced, no operator', stage.client, cluster, async () => {
    const second = await cluster.primary();
    const [one, other] = await proxies();
    await killProcess({ namespace: stage.namespace, name: second.metadata.name });
    for (const pod of [one, other]) {
      if (pod === undefined) throw new Error('two proxies');
      await removeByName(stage.client, pod);
      await until('two proxies are ready', async () => {
        const ready = (await proxies()).filter(({ metadata, status }) => {
          const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
          return metadata.uid !== pod.metadata.uid && isReady === true;
        });
        expect(ready).toHaveLength(2);
      });
    }
  });
  operator = await stage.startOperator();
});

test('it goes under writers, and clients reach the primary as before', async () => {
  await underWriters('proxy switched off', stage.client, cluster, async () => {
    await stage.client.mergePatch(
      { resource: redisClusters, namespace: stage.namespace, name: 'p' },
      { spec: { proxy: null } },
    );
    await led('data');
    await until('no proxy is left', async () => expect(await proxies()).toEqual([]));
  });
  await cluster.whole(size, { withinMs: 120_000 });
});
