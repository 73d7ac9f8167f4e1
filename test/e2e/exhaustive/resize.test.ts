/**
 * A change of resources reaches running pods in place: the kubelet sets the cgroups, no container restarts, and nobody hands over. What a
 * node can never do takes the restart that it always took.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { unitsOf } from '../../../src/api/quantity.ts';
import { events, pods as podResource, statefulSets } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { dataShareOfLimit } from '../../../src/engines/redis/resources/memory-shares.ts';
import type { Pod, StatefulSet } from '../../../src/resources/children.ts';
import { changedAsPrinted } from '../../support/carried-out.ts';
import { underEtcdWriters } from '../../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { underWriters } from '../../support/scenario.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('resize');
  await stage.startOperator();
});
afterAll(() => stage.close());

interface Amounts {
  readonly cpu: string;
  readonly memory: string;
}

const inPlace = (count: number, set: string): unknown =>
  expect.stringMatching(new RegExp(`^the ${count} pod\\(s\\) of StatefulSet ${set} are resized in place`));

/** Of the container's own cgroup, as it sees it: bytes, and the shares or the weight of its CPU. */
async function cgroupOf(pod: string, container: string): Promise<{ readonly memory: number; readonly cpu: number }> {
  const files = ['memory/memory.limit_in_bytes', 'memory.max', 'cpu/cpu.shares', 'cpu.weight'];
  const words = ['-n', stage.namespace, 'exec', pod, '-c', container, '--', 'sh', '-c'];
  const command = files.map((file) => `cat /sys/fs/cgroup/${file} 2>/dev/null`).join('; ');
  const { stdout } = await run('kubectl', [...words, `${command}; true`]);
  const [memory, cpu] = stdout.trim().split('\n').map(Number);
  return { memory: memory ?? 0, cpu: cpu ?? 0 };
}

const podNamed = async (name: string): Promise<Pod> =>
  (await stage.client.get({ resource: podResource, namespace: stage.namespace, name })) as Pod;

/** What must stay: the pod itself, and the runs of its containers. */
async function livesOf(names: readonly string[]): Promise<readonly unknown[]> {
  const pods = await Promise.all(names.map(podNamed));
  return pods.map(({ metadata, status }) => [
    metadata.uid,
    status?.containerStatuses?.map(({ name, restartCount, state }) => [name, restartCount, state?.running?.startedAt]),
  ]);
}

/** The kubelet has set it, the container sees it, and Kubernetes counts the pod as one of the present template. */
async function expectResized(name: string, container: string, { cpu, memory }: Amounts): Promise<void> {
  const pod = await podNamed(name);
  const told = pod.status?.containerStatuses?.find((one) => one.name === container)?.resources;
  expect(told).toMatchObject({ requests: { cpu }, limits: { memory } });
  expect(pod.metadata.annotations ?? {}).not.toHaveProperty(['clusterwright.dev/resize']);
  const set = { resource: statefulSets, namespace: stage.namespace, name: name.replace(/-\d+$/, '') };
  const { status } = (await stage.client.get(set)) as StatefulSet;
  expect(pod.metadata.labels?.['controller-revision-hash']).toBe(status?.updateRevision);
  // The image of etcd has no shell to read it with.
  if (container !== 'etcd') expect((await cgroupOf(name, container)).memory).toBe(unitsOf(memory));
}

async function allResized(names: readonly string[], container: string, amounts: Amounts): Promise<void> {
  await until(
    `${names.join(', ')} resized`,
    async () => {
      for (const name of names) await expectResized(name, container, amounts);
    },
    { withinMs: 240_000, everyMs: 500 },
  );
}

describe('a RedisCluster', () => {
  const size = { data: 3, sentinels: 3 };
  const data = ['r-0', 'r-1', 'r-2'];
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await stage.create('r', { resources: { requests: { cpu: '50m' }, limits: { memory: '256Mi' } } });
    await cluster.whole(size, { withinMs: 180_000 });
  });

  /** What every node has, in bytes. */
  const maxmemory = async (limit: string): Promise<void> => {
    const bytes = String(Math.floor(unitsOf(limit) * dataShareOfLimit));
    await until('maxmemory on every node', async () => {
      for (const pod of (await cluster.pods()).data) {
        expect(await cluster.ask(pod, 'CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', bytes]);
      }
    });
  };

  test('gets more CPU and memory under writers: nothing restarts, and the primary stays', async () => {
    const before = await livesOf(data);
    const primary = (await cluster.primary()).metadata.name;
    const { cpu } = await cgroupOf('r-0', 'redis');
    const { gapMs } = await underWriters('more memory and CPU, in place', stage.client, cluster, async () => {
      await cluster.change({ resources: { requests: { cpu: '150m' }, limits: { memory: '512Mi' } } });
      await allResized(data, 'redis', { cpu: '150m', memory: '512Mi' });
      await cluster.whole(size);
      await maxmemory('512Mi');
    });
    expect(await livesOf(data)).toEqual(before);
    expect((await cluster.primary()).metadata.name).toBe(primary);
    expect((await cgroupOf('r-0', 'redis')).cpu).toBeGreaterThan(cpu);
    expect(gapMs).toBeLessThan(1_000);
  });

  test('gets less memory, as the plan has said, and its servers know before', async () => {
    const before = await livesOf(data);
    const { follows } = await changedAsPrinted(stage, cluster as never, { resources: { limits: { memory: '320Mi' } } });
    expect(follows).toContainEqual(inPlace(3, 'r'));
    await allResized(data, 'redis', { cpu: '150m', memory: '320Mi' });
    await cluster.whole(size);
    await maxmemory('320Mi');
    expect(await livesOf(data)).toEqual(before);
  });
});

describe('an EtcdCluster', () => {
  const members = ['e-0-0', 'e-1-0', 'e-2-0'];
  let cluster: EtcdTestCluster;

  beforeAll(async () => {
    cluster = await stage.createEtcd('e', { resources: { requests: { cpu: '50m' }, limits: { memory: '256Mi' } } });
    await cluster.whole(3, { withinMs: 180_000 });
  });

  test('gets more CPU and memory under writers: nothing restarts, and the leader stays', async () => {
    const before = await livesOf(members);
    const leader = (await cluster.leader()).metadata.name;
    const { gapMs } = await underEtcdWriters('more memory and CPU, in place', cluster, async () => {
      await cluster.change({ resources: { requests: { cpu: '150m' }, limits: { memory: '512Mi' } } });
      await allResized(members, 'etcd', { cpu: '150m', memory: '512Mi' });
      await cluster.whole(3);
    });
    expect(await livesOf(members)).toEqual(before);
    expect((await cluster.leader()).metadata.name).toBe(leader);
    expect(gapMs).toBeLessThan(1_000);
  });

  test('restarts one member for what no node has, says why, and goes back', async () => {
    const before = await livesOf(members);
    const huge = { requests: { cpu: '150m', memory: '900Gi' }, limits: { memory: '900Gi' } };
    await cluster.change({ resources: huge });
    await until('it is said', async () => {
      const notes = (await stage.client.list(events, { namespace: stage.namespace })).items.map(({ note }) => note);
      expect(notes).toContainEqual(
        expect.stringContaining('it is not resized in place, since its node cannot do that'),
      );
      const { plan } = ((await cluster.object()).status ?? {}) as ClusterStatus;
      expect(plan?.waitingFor).toContain('cannot be scheduled');
    });
    expect(
      (await livesOf(members)).filter((life, i) => JSON.stringify(life) === JSON.stringify(before[i])),
    ).toHaveLength(2);
    await cluster.change({ resources: { requests: { cpu: '150m', memory: '512Mi' }, limits: { memory: '512Mi' } } });
    await allResized(members, 'etcd', { cpu: '150m', memory: '512Mi' });
    await cluster.whole(3, { withinMs: 240_000 });
  });
});

describe('a PostgresCluster', () => {
  const members = ['p-0-0', 'p-1-0'];
  let cluster: PostgresTestCluster;

  beforeAll(async () => {
    cluster = await stage.createPostgres('p', {
      instances: 2,
      resources: { requests: { cpu: '50m' }, limits: { memory: '384Mi' } },
    });
    await cluster.whole(2, { withinMs: 240_000 });
  });

  const startedAt = (pod: string): Promise<string> => cluster.sql(pod, 'select pg_postmaster_start_time()');

  test('gets more CPU: nothing restarts', async () => {
    const [before, started] = [await livesOf(members), await Promise.all(members.map(startedAt))];
    await cluster.change({ resources: { requests: { cpu: '150m' } } });
    await allResized(members, 'postgres', { cpu: '150m', memory: '384Mi' });
    await cluster.whole(2);
    expect(await livesOf(members)).toEqual(before);
    expect(await Promise.all(members.map(startedAt))).toEqual(started);
  });

  test('gets more memory, and with it shared_buffers: the pod of the standby restarts, and PostgreSQL of the primary with the switchover', async () => {
    const before: readonly KubeObject[] = await cluster.pods();
    const primary = (await cluster.primary()).metadata.name;
    const started = await startedAt(primary);
    await cluster.change({ resources: { limits: { memory: '512Mi' } } });
    await until(
      'both with the new shared_buffers, and well',
      async () => {
        for (const name of members) {
          expect((await podNamed(name)).spec?.containers?.[0]?.resources?.limits?.memory).toBe('512Mi');
          expect(await cluster.sql(name, 'show shared_buffers')).toBe('128MB');
        }
        await cluster.whole(2, { withinMs: 0 });
      },
      { withinMs: 300_000, everyMs: 1_000 },
    );
    const after = await cluster.pods();
    const kept = after.filter(({ metadata }) => before.some((one) => one.metadata.uid === metadata.uid));
    expect(kept.map(({ metadata }) => metadata.name)).toEqual([primary]);
    expect(await startedAt(primary)).not.toBe(started);
    expect(after.flatMap(({ status }) => status?.containerStatuses?.map(({ restartCount }) => restartCount))).toEqual([
      0, 0,
    ]);
  });
});
