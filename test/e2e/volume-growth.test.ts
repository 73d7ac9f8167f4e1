/** Volumes that are full and grow, and volumes that cannot grow. Limited volumes are the sandbox's: see docs/sandbox.md. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { Claim } from '../../src/resources/children.ts';
import { fillVolume } from '../../src/sandbox/faults/volume.ts';
import { limitedClass } from '../../src/sandbox/storage.ts';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { listAll } from '../support/kubernetes.ts';
import { printed } from '../support/printed-plan.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('volume-growth');
  await stage.startOperator();
});
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Told {
  object(): Promise<KubeObject>;
}

const statusOf = async (cluster: Told): Promise<ClusterStatus> =>
  ((await cluster.object()).status ?? {}) as ClusterStatus;

/** `TYPE STATUS REASON` of those that are there. */
async function conditions(cluster: Told): Promise<string[]> {
  return ((await statusOf(cluster)).conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

async function messageOf(cluster: Told, type: string): Promise<string> {
  return (await statusOf(cluster)).conditions?.find((one) => one.type === type)?.message ?? '';
}

/** What the claims of a cluster ask for and have, `WANTED HAS`. */
async function sizes(cluster: string): Promise<string[]> {
  const claims = (await listAll(stage.client, persistentVolumeClaims, stage.namespace)) as Claim[];
  return claims
    .filter(({ metadata }) => metadata.name.startsWith(`data-${cluster}-`))
    .map(({ spec, status }) => `${spec?.resources?.requests?.storage} ${status?.capacity?.storage}`);
}

test('Redis: nodes whose volumes are full refuse writes, the status says so, and they go on when the volumes have grown', async () => {
  const cluster = await stage.create('full', { storage: { size: '256Mi', storageClassName: limitedClass } });
  await cluster.whole({ data: 3, sentinels: 3 }, { withinMs: 180_000 });
  const missing = await cluster.load('before', 200);
  const write = async (): Promise<unknown> => cluster.ask(await cluster.primary(), 'SET', 'after', 'x');

  // Where a single one is full, Sentinel fails over to one that has room.
  const { data } = await cluster.pods();
  await Promise.all(data.map(({ metadata: { name } }) => fillVolume({ namespace: stage.namespace, name })));
  const filledAt = performance.now();
  await until('writes are refused', () => expect(write()).rejects.toThrow(/No space left/));
  await until('the status says so', async () => {
    expect((await statusOf(cluster)).phase).toBe('Degraded');
    expect(await conditions(cluster)).toContain('DiskFull True ReportedByMember');
  });
  const said = seconds(filledAt);
  expect(await missing()).toEqual([]);

  await cluster.change({ storage: { size: '512Mi' } });
  const askedAt = performance.now();
  await until('writes are taken', write);
  const taken = seconds(askedAt);
  await cluster.whole({ data: 3, sentinels: 3 });
  const whole = seconds(askedAt);
  expect(await sizes('full')).toEqual(Array.from({ length: 3 }, () => '512Mi 512Mi'));
  expect((await statusOf(cluster)).storage).toEqual({ capacity: '512Mi', minimumSize: '512Mi' });
  expect((await cluster.pods()).data.map(({ metadata }) => metadata.uid)).toEqual(
    data.map(({ metadata }) => metadata.uid),
  );
  expect(await missing()).toEqual([]);
  await expect(cluster.change({ storage: { size: '256Mi' } })).rejects.toThrow(/storage cannot shrink/);
  await recordResult({
    scenario: 'Redis: a full volume grows',
    measured: `said after ${said}, writes ${taken} and whole ${whole} after storage.size was raised`,
  });
  await cluster.remove();
});

test('etcd: members whose volumes are full end, the status says so, and they go on when the volumes have grown', async (context) => {
  const cluster = await stage.createEtcd('keys', {
    storage: { size: '512Mi', storageClassName: limitedClass },
    // Each keeps the latest requests in memory, refused ones included.
    resources: { limits: { memory: '1Gi' } },
  });
  try {
    await cluster.whole(3, { withinMs: 180_000 });
    const hosts = await cluster.addresses();
    const acknowledged: string[] = [];
    let keys = 0;
    const put = async (host: string): Promise<unknown> => {
      const key = `hoard/${keys++}`;
      await cluster.ask(host, 'kv/put', { key: base64(key), value: base64('x'.repeat(1024 ** 2)) }, 5_000);
      return acknowledged.push(key);
    };
    for (const host of hosts) for (let n = 0; n < 5; n++) await put(host);
    await Promise.all(
      (await cluster.pods()).map(({ metadata: { name } }) => fillVolume({ namespace: stage.namespace, name })),
    );
    const filledAt = performance.now();
    // The log goes on in the segment that is made in advance.
    await until(
      'the volumes are full, and the status says so',
      async () => {
        for (let n = 0; n < 10; n++) await put(hosts[n % hosts.length] ?? '').catch(() => undefined);
        expect(await messageOf(cluster, 'Ready')).toContain('its volume is full, and needs a larger storage.size');
        expect((await statusOf(cluster)).phase).toBe('Degraded');
      },
      { withinMs: 180_000, everyMs: 50 },
    );
    const said = seconds(filledAt);

    await cluster.change({ storage: { size: '2Gi' } });
    const askedAt = performance.now();
    await until('the volumes have grown', async () => {
      expect(await sizes('keys')).toEqual(Array.from({ length: 3 }, () => '2Gi 2Gi'));
    });
    const grown = seconds(askedAt);
    await until('writes are taken', async () => put((await cluster.addresses())[0] ?? ''), { withinMs: 360_000 });
    const taken = seconds(askedAt);
    await cluster.whole(3, { withinMs: 360_000 });
    const { count } = await cluster.ask((await cluster.addresses())[0] ?? '', 'kv/range', {
      key: base64('hoard/'),
      range_end: base64('hoard0'),
      count_only: true,
    });
    expect(Number(count)).toBeGreaterThanOrEqual(acknowledged.length);
    await recordResult({
      scenario: 'etcd: full volumes grow',
      acknowledged: acknowledged.length,
      measured: `said after ${said}; grown ${grown}, writes ${taken} and whole ${seconds(askedAt)} after storage.size was raised`,
    });
    await cluster.remove();
  } finally {
    await keepEtcdEvidence(context, stage, cluster);
  }
});

test('volumes of a class that cannot grow stay as they are: the plan and the status say so, and the request is taken back', async () => {
  const cluster = await stage.create('fixed', { mode: 'Standalone', replicas: 1, storage: { size: '1Gi' } });
  const ready = async (): Promise<void> => expect((await cluster.view()).ready).toBe('True');
  await until('ready', ready, { withinMs: 120_000 });
  await until('its volumes known', async () =>
    expect((await statusOf(cluster)).storage).toEqual({ capacity: '1Gi', minimumSize: '1Gi' }),
  );

  const { kind, apiVersion, metadata, spec } = await cluster.object();
  const file = join(dirname(stage.kubeconfig), 'growth.yaml');
  const own = { name: metadata.name, namespace: metadata.namespace };
  await writeFile(
    file,
    stringify({ apiVersion, kind, metadata: own, spec: { ...(spec as object), storage: { size: '10Gi' } } }),
  );
  const plan = await printed(stage.kubeconfig, file);
  expect(plan).toContain('StorageClass local-path does not allow volume expansion');
  expect(plan).toContain('until storage.size is set back to 1Gi');

  await cluster.change({ storage: { size: '10Gi' } });
  const askedAt = performance.now();
  await until('it says so', async () => {
    expect((await statusOf(cluster)).phase).toBe('Blocked');
    expect(await conditions(cluster)).toEqual(
      expect.arrayContaining([
        'Ready False VolumesTooSmall',
        'Degraded False ExpandingVolumes',
        'VolumesTooSmall True ExpansionNotSupported',
      ]),
    );
  });
  const said = seconds(askedAt);
  expect(await messageOf(cluster, 'Ready')).toContain('storage.size can be set back to 1Gi');
  expect(await sizes('fixed')).toEqual(['1Gi 1Gi']);
  const missing = await cluster.load('meanwhile', 20);
  expect(await missing()).toEqual([]);

  await expect(cluster.change({ storage: { size: '512Mi' } })).rejects.toThrow(/storage cannot shrink/);
  await cluster.change({ storage: { size: '1Gi' } });
  const backAt = performance.now();
  await until('ready again', async () => {
    await ready();
    expect((await conditions(cluster)).filter((one) => one.startsWith('VolumesTooSmall'))).toEqual([]);
  });
  expect(await sizes('fixed')).toEqual(['1Gi 1Gi']);
  await recordResult({
    scenario: 'volumes that cannot grow',
    measured: `said after ${said}; ready ${seconds(backAt)} after the request was taken back`,
  });
  await cluster.remove();
});
