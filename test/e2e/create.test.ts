/** A cluster is born: in a namespace that enforces `restricted`, without a moment in which it can be entered unasked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps, podDisruptionBudgets, services, statefulSets } from '../../src/api/resource.ts';
import { redisConnection } from '../../src/engines/redis/client/connection.ts';
import { dialTcp } from '../../src/system/dial.ts';
import { listAll } from '../support/kubernetes.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { within } from '../support/redis-client.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { addressesOf, dataPort, primaryIn, sentinelPort, statusOf } from '../support/redis-view.ts';
import { endpointSlices } from '../support/resources.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { whileLooking } from '../support/while-looking.ts';

let stage: Stage;
let operator: OperatorProcess;
let cluster: TestCluster;
/** What processes answered to a PING without a password, from their first breath on. */
const unasked = new Set<string>();

/** Pings everybody; a process that does not listen yet is asked again. */
async function pingUnasked(): Promise<void> {
  const { data, sentinels } = await cluster.pods();
  await Promise.all(
    [...data.map((pod) => [pod, dataPort] as const), ...sentinels.map((pod) => [pod, sentinelPort] as const)].map(
      async ([pod, port]) => {
        if (pod.status?.podIP === undefined) return;
        const answer = await ping(pod.status.podIP, port).catch(() => undefined);
        if (answer !== undefined) unasked.add(`${pod.metadata.name}: ${answer}`);
      },
    ),
  );
}

async function ping(host: string, port: number): Promise<string> {
  const connection = redisConnection(await dialTcp(host, port, AbortSignal.timeout(200)));
  try {
    return await within(
      200,
      connection.command('PING').then(String, (error: Error) => error.message),
    );
  } finally {
    connection.close();
  }
}

beforeAll(async () => {
  stage = await openStage('create');
  operator = await stage.startOperator();
  const startedAt = performance.now();
  cluster = await stage.create('r');
  const readiness = async (): Promise<void> => {
    const ready = statusOf(await cluster.object()).conditions?.find((condition) => condition.type === 'Ready');
    expect(ready).toMatchObject({ status: 'True' });
  };
  const readyMs = await whileLooking(pingUnasked, 50, async () => {
    await until('the cluster Ready', readiness, { everyMs: 50 });
    return performance.now() - startedAt;
  });
  await cluster.whole({ data: 3, sentinels: 3 });
  const wholeMs = performance.now() - startedAt;
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  await recordResult({
    scenario: 'create 3 + 3',
    measured: `Ready after ${seconds(readyMs)}, every sentinel knows everybody after ${seconds(wholeMs)}`,
  });
});

afterAll(() => stage.close());

describe('a new cluster of three data nodes and three sentinels', () => {
  test('refuses everybody who has no password, from the first moment on', () => {
    const names = [...unasked].map((answer) => answer.replace(/:.*/, '')).sort();
    expect(names).toEqual(['r-0', 'r-1', 'r-2', 'r-sentinel-0', 'r-sentinel-1', 'r-sentinel-2']);
    expect([...unasked].filter((answer) => !answer.includes('NOAUTH'))).toEqual([]);
  });

  test('puts no two data nodes and no two sentinels on one machine', async () => {
    const { data, sentinels } = await cluster.pods();
    const machines = (pods: typeof data): string[] => pods.map((pod) => pod.spec?.nodeName ?? '').sort();
    expect(machines(data)).toEqual(['node1', 'node2', 'node3']);
    expect(machines(sentinels)).toEqual(['node1', 'node2', 'node3']);
  });

  test('has a Service for the primary, one for the replicas, one for the sentinels', async () => {
    const { client, namespace } = stage;
    const { data, sentinels } = await cluster.pods();
    const names = new Map([...data, ...sentinels].map((pod) => [pod.status?.podIP, pod.metadata.name]));
    const primary = primaryIn(await cluster.view());
    await until('each leads where it should', async () => {
      const slices = await listAll(client, endpointSlices, namespace);
      const behind = (service: string): string[] =>
        addressesOf(slices.filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === service))
          .map((address) => names.get(address) ?? address)
          .sort();
      expect(behind('r-primary')).toEqual([primary]);
      expect(behind('r-replicas')).toEqual(['r-0', 'r-1', 'r-2'].filter((pod) => pod !== primary));
      expect(behind('r-sentinel')).toEqual(['r-sentinel-0', 'r-sentinel-1', 'r-sentinel-2']);
      expect(behind('r')).toEqual(['r-0', 'r-1', 'r-2']);
    });
  });

  test('may lose one data node and one sentinel to an eviction at a time', async () => {
    await until('Kubernetes has counted', async () => {
      const budgets = await listAll(stage.client, podDisruptionBudgets, stage.namespace);
      const allowed = budgets.map(({ metadata, status }) => [metadata.name, (status as Allowed).disruptionsAllowed]);
      expect(allowed).toEqual([
        ['r', 1],
        ['r-sentinel', 1],
      ]);
    });
  });

  test('says where it is in its status', async () => {
    const status = statusOf(await cluster.object());
    expect(status).toMatchObject({ phase: 'Ready', replicas: 3, readyReplicas: 3, primary: expect.any(String) });
    expect(status.connection?.secretName).toBe('r-auth');
    expect(status.members?.map(({ name }) => name)).toHaveLength(6);
  });

  test('is made of objects that the API server takes without a warning', async () => {
    const resources = [services, configMaps, podDisruptionBudgets, statefulSets];
    const made = await Promise.all(resources.map((resource) => listAll(stage.client, resource, stage.namespace)));
    const children = made.flat().filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] === 'r');
    expect(children).toHaveLength(9);
    for (const child of children) {
      await stage.client.create(copyOf(child), { dryRun: true, fieldValidation: 'Strict' });
    }
    expect(stage.warnings).toEqual([]);
    // The operator warns of other things, too: of an answer that came late, say, after which it asks again.
    const held = operator.log.filter(({ level, message }) => level === 'error' || message === 'the API server warns');
    expect(held).toEqual([]);
  });
});

interface Allowed {
  readonly disruptionsAllowed: number;
}

/** As it was sent, under another name, without what the server fills in. */
function copyOf(object: KubeObject): KubeObject {
  const { name, namespace, labels } = object.metadata;
  const { status: _, ...rest } = object;
  const metadata = {
    name: `${name}-copy`,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels && { labels }),
  };
  if (object.kind !== 'Service') return { ...rest, metadata };
  const { clusterIP, clusterIPs: _all, ...spec } = object.spec as Record<string, unknown>;
  return { ...rest, metadata, spec: clusterIP === 'None' ? { ...spec, clusterIP } : spec };
}
