/**
 * Exporters beside the servers of a living cluster: they come one pod at a time, under writers; one that is killed makes no pod unready; they take
 * another password of the identity; and an image that is not there stops the rollout, and no server.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets } from '../../../src/api/resource.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { removeByName } from '../../support/kubernetes.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { statusOf } from '../../support/redis-view.ts';
import { replacedPods } from '../../support/replaced-pods.ts';
import { recordResult } from '../../support/results.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;
let operator: OperatorProcess;

beforeAll(async () => {
  await loadImages(['redis-exporter:1.86'], { recipes }, createProgress());
  stage = await openStage('redis-monitoring');
  operator = await stage.startOperator();
  cluster = await stage.create('m', {});
  await cluster.whole(size, { withinMs: 120_000 });
});
afterAll(() => stage.close());

async function all(): Promise<readonly Pod[]> {
  const { data, sentinels } = await cluster.pods();
  return [...data, ...sentinels];
}

async function metricsOf(pod: Pod): Promise<string> {
  return await (await fetch(`http://${pod.status?.podIP}:9121/metrics`)).text();
}

/** Every exporter logs in to its server. */
async function everybodyUp(): Promise<void> {
  for (const pod of await all()) expect(await metricsOf(pod)).toMatch(/^redis_up 1$/m);
}

/** Who runs, how often its containers were started, and since when it is ready. */
async function lives(): Promise<unknown> {
  return (await all()).map(({ metadata, status }) => [
    metadata.uid,
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((each) => each.restartCount),
    status?.conditions?.find(({ type }) => type === 'Ready'),
  ]);
}

async function identity(): Promise<{ readonly uid: string; readonly password: string }> {
  const found = await stage.client.get({ resource: secrets, namespace: stage.namespace, name: 'm-internal' });
  const { password = '' } = found.data as Record<string, string>;
  return { uid: found.metadata.uid ?? '', password: Buffer.from(password, 'base64').toString('utf8') };
}

test('they come one pod at a time, the primary last, and no write is lost', async () => {
  const primary = (await cluster.primary()).metadata.name;
  const { gapMs } = await underWriters('monitoring switched on', stage.client, cluster, async () => {
    const order = await replacedPods(all, async () => {
      await cluster.change({ monitoring: {} });
      await until(
        'every exporter, and all well',
        async () => {
          await everybodyUp();
          await cluster.whole(size, { withinMs: 0 });
        },
        { withinMs: 300_000, everyMs: 500 },
      );
    });
    expect(order).toHaveLength(6);
    expect(order.at(-1)).toBe(primary);
  });
  expect(gapMs).toBeLessThan(10_000);
});

test('they serve metrics alone, without the password', async () => {
  const { password } = await identity();
  expect(password.length).toBeGreaterThan(20);
  for (const pod of await all()) {
    const metrics = await metricsOf(pod);
    expect(metrics.includes(password)).toBe(false);
    expect(metrics.includes(await cluster.password())).toBe(false);
    const scraped = await fetch(`http://${pod.status?.podIP}:9121/scrape?target=127.0.0.1:6379&check-keys=*`);
    expect(scraped.status).toBe(404);
  }
});

test('one that is killed starts again, and its pod stays ready', async () => {
  const before = await lives();
  const [pod] = await all();
  if (pod === undefined) throw new Error('there is no pod');
  const runs = async (): Promise<string> =>
    /^redis_exporter_scrapes_total (\d+)$/m.exec(await metricsOf(pod))?.[1] ?? '';
  for (let i = 0; i < 3; i += 1) await runs();
  const kill = ['exec', '-n', stage.namespace, pod.metadata.name, '-c', 'exporter', '--'];
  const { gapMs } = await underWriters('exporter killed', stage.client, cluster, async () => {
    const startedAt = performance.now();
    await run('kubectl', [...kill, 'sh', '-c', 'kill -9 $(pidof prometheus-redis-exporter)']);
    // The counter of another process.
    await until('another one', async () => expect(Number(await runs())).toBeLessThan(4));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    await recordResult({
      scenario: 'exporter killed, until it serves again',
      measured: `${seconds} s, the pod stayed ready`,
    });
  });
  expect(gapMs).toBeLessThan(1_000);
  await everybodyUp();
  expect(await lives()).toEqual(before);
});

/** Name of each pod to how often its server was started. */
async function serverStarts(): Promise<unknown> {
  return (await all()).map(({ metadata, status }) => [
    metadata.name,
    metadata.uid,
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
  ]);
}

test('its container may take no more memory than the spec says, and no server is harmed', async () => {
  const before = await serverStarts();
  const pod = await cluster.primary();
  // The kernel ends this one process or the whole container, as its version of cgroups has it.
  const eat = ['sh', '-c', 'x=0123456789; while :; do x=$x$x; done'];
  const exec = ['exec', '-n', stage.namespace, pod.metadata.name, '-c', 'exporter', '--'];
  await expect(run('kubectl', [...exec, ...eat])).rejects.toThrow('137');
  await until('it serves', everybodyUp);
  await cluster.whole(size);
  expect(await serverStarts()).toEqual(before);
  expect((await cluster.primary()).metadata.name).toBe(pod.metadata.name);
});

test('they take another password of the identity', async () => {
  const before = await lives();
  const old = await identity();
  const found = await stage.client.get({ resource: secrets, namespace: stage.namespace, name: 'm-internal' });
  await removeByName(stage.client, found);
  // It keeps what it has read of a Secret for an hour.
  await operator.kill();
  operator = await stage.startOperator();
  await until('another', async () => expect((await identity()).password).not.toBe(old.password));
  // The servers know it within seconds; the kubelet takes up to a minute to change the mounted file.
  const startedAt = performance.now();
  await until('they are refused', async () =>
    expect(
      await everybodyUp().then(
        () => 'up',
        () => 'refused',
      ),
    ).toBe('refused'),
  );
  await until('they log in again', everybodyUp, { withinMs: 240_000, everyMs: 1000 });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  await recordResult({ scenario: 'another password for exporters', measured: `all log in after ${seconds} s` });
  await cluster.whole(size);
  expect(await lives()).toEqual(before);
});

test('an image that is not there stops the rollout at its first pod, and leaves with the spec', async () => {
  const [old, uids] = [await all(), new Set((await all()).map(({ metadata }) => metadata.uid))];
  await cluster.change({ monitoring: { image: 'localhost/none:1' } });
  await until('it is told of', async () => {
    const ready = statusOf(await cluster.object()).conditions?.find(({ type }) => type === 'Ready');
    expect(ready?.message).toContain('container exporter has no image: localhost/none:1 cannot be pulled');
  });
  const left = (await all()).filter(({ metadata }) => uids.has(metadata.uid));
  expect(left).toHaveLength(old.length - 1);
  await cluster.change({ monitoring: null } as unknown as RedisSpecInput);
  await until(
    'no exporter, and all well',
    async () => {
      for (const pod of await all()) expect(pod.spec?.initContainers).toBeUndefined();
      await cluster.whole(size, { withinMs: 0 });
    },
    { withinMs: 300_000, everyMs: 500 },
  );
});
