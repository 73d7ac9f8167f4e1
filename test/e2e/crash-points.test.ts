/**
 * Every write is a crash point: the operator is killed after each single write it makes, started anew without memory,
 * and the cluster ends as it does without crashes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { configMaps, podDisruptionBudgets, services, statefulSets } from '../../src/api/resource.ts';
import { instanceLabel } from '../../src/resources/metadata.ts';
import { type Life, startLife } from '../support/mortal-operator.ts';
import type { Size, TestCluster } from '../support/redis-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage('crashes');
});

afterAll(() => stage.close());

/** A cluster is quiet when nothing was written for this long: longer than any pause of the planner between two looks. */
const quietMs = 4_000;

/** An operator without crashes, until the cluster is whole and quiet. Resolves with its writes. */
async function undisturbed(cluster: TestCluster, size: Size): Promise<readonly string[]> {
  const life = await startLife({ kubeconfig: stage.kubeconfig, namespace: stage.namespace });
  try {
    await cluster.whole(size, { withinMs: 180_000 });
    await quiet(life);
  } finally {
    await life.end();
  }
  return life.writes;
}

/** One operator after the other, each killed after its first write, until one finds nothing left to write. */
async function killedAfterEveryWrite(cluster: TestCluster, size: Size): Promise<readonly string[]> {
  const writes: string[] = [];
  const deadline = performance.now() + 240_000;
  while (performance.now() < deadline) {
    const life = await startLife({ kubeconfig: stage.kubeconfig, namespace: stage.namespace, writes: 1 });
    const isDone = await Promise.race([life.died.then(() => false), whole(cluster, size, life).then(() => true)]);
    writes.push(...life.writes);
    if (!isDone) continue;
    await life.end();
    return writes;
  }
  throw new Error(`not done after ${writes.length} crashes:\n${writes.join('\n')}`);
}

async function whole(cluster: TestCluster, size: Size, life: Life): Promise<void> {
  await cluster.whole(size, { withinMs: 240_000 });
  await quiet(life);
}

async function quiet(life: Life): Promise<void> {
  let seen = life.writes.length;
  let since = performance.now();
  await until(
    'no more writes',
    () => {
      if (life.writes.length !== seen) {
        seen = life.writes.length;
        since = performance.now();
      }
      if (performance.now() - since < quietMs) throw new Error(`${seen} writes`);
    },
    { withinMs: 120_000 },
  );
}

const childKinds: readonly Resource[] = [configMaps, services, podDisruptionBudgets, statefulSets];

/** The children as they should be after any history: without identities, times, addresses and what others add. */
async function children(cluster: TestCluster): Promise<Record<string, unknown>> {
  const lists = await Promise.all(
    childKinds.map(async (resource) => {
      const labelSelector = `${instanceLabel}=${cluster.name}`;
      return (await stage.client.list(resource, { namespace: stage.namespace, labelSelector })).items;
    }),
  );
  const neutral = (text: string): string => text.replaceAll(cluster.name, 'NAME');
  return Object.fromEntries(
    lists
      .flat()
      .map((object): [string, unknown] => [
        neutral(`${object.kind}/${object.metadata.name}`),
        JSON.parse(neutral(JSON.stringify(withoutIdentity(object)))),
      ]),
  );
}

function withoutIdentity(object: KubeObject): unknown {
  const { labels, ownerReferences = [] } = object.metadata;
  const { clusterIP, clusterIPs: _, ...spec } = (object.spec ?? {}) as Record<string, unknown>;
  const owners = ownerReferences.map(({ uid: _uid, ...owner }) => owner);
  return { labels, owners, data: object.data, spec: clusterIP === 'None' ? { ...spec, clusterIP } : spec };
}

async function report(scenario: string, without: readonly string[], crashed: readonly string[]): Promise<void> {
  const measured = `crash points: ${crashed.length}, writes: ${crashed.length}; writes without crashes: ${without.length}`;
  await recordResult({ scenario: `crashes: ${scenario}`, measured });
}

describe('killed after every write it makes, the operator', () => {
  const created = { data: 3, sentinels: 3 };
  let steady: TestCluster;
  let shaken: TestCluster;

  test('creates the same cluster', async () => {
    steady = await stage.create('steady');
    const without = await undisturbed(steady, created);
    shaken = await stage.create('shaken');
    const crashed = await killedAfterEveryWrite(shaken, created);
    await report('create', without, crashed);
    expect(without.length, without.join('\n')).toBeLessThan(60);
    expect(await children(shaken)).toEqual(await children(steady));
    expect(crashed.length).toBeGreaterThanOrEqual(10);
  });

  test('scales from three to five and back to three, and keeps the data', async () => {
    const missing = await shaken.load('kept', 500);
    const without: string[] = [];
    const crashed: string[] = [];
    for (const replicas of [5, 3]) {
      const size = { data: replicas, sentinels: 3 };
      await steady.change({ replicas });
      without.push(...(await undisturbed(steady, size)));
      await shaken.change({ replicas });
      crashed.push(...(await killedAfterEveryWrite(shaken, size)));
    }
    await report('scale 3→5→3', without, crashed);
    // A planner that asks for the same thing again and again shows here.
    expect(without.length, without.join('\n')).toBeLessThan(120);
    expect(await children(shaken)).toEqual(await children(steady));
    expect(await missing()).toEqual([]);
  });
});
