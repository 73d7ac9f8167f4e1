/** Whose turn it is, as the objects in the cache tell and as clusters ask. */
import { describe, expect, it } from 'vitest';
import { ignoreLimitAnnotation } from '../../src/api/maintenance.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { childrenOf } from '../../src/resources/children.ts';
import type { Cache, ClusterKey } from '../../src/runtime/cache.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createRollouts } from '../../src/runtime/rollouts.ts';
import type { Change } from '../../src/runtime/store.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';

/** `rolling`: one of its pods has an older template. `away`: none has, and one is not there. */
type State = 'well' | 'rolling' | 'away';

function world(limit = 1) {
  const clusters = new Map<ClusterKey, KubeObject>();
  const states = new Map<ClusterKey, State>();
  const onCluster: ((engine: KindHandler, change: Change) => void)[] = [];
  const onChild: ((key: ClusterKey) => void)[] = [];
  const engine = testEngine();
  let isListed = true;
  const cache: Pick<Cache, 'cluster' | 'children' | 'unlistedKinds' | 'onClusterChange' | 'onChildChange'> = {
    get unlistedKinds() {
      return isListed ? [] : ['PostgresCluster'];
    },
    cluster: (_, namespace, name) => clusters.get(`test/${namespace}/${name}`),
    children: (key) => childrenOf(objectsOf(states.get(key) ?? 'well')),
    onClusterChange: (call) => void onCluster.push(call),
    onChildChange: (call) => void onChild.push((key) => call(key, {} as Change)),
  };
  const woken: ClusterKey[] = [];
  let now = 0;
  const metrics = createMetrics();
  const wake = (key: ClusterKey): void => void woken.push(key);
  const rollouts = createRollouts({
    ...{ limit, engines: [engine], cache, metrics, wake },
    clock: { monotonic: () => now },
  });
  const tell = (object: KubeObject, type: 'added' | 'deleted'): void => {
    for (const call of onCluster) call(engine, { type, object, previous: object, origin: 'watch' } as Change);
  };
  return {
    rollouts,
    woken,
    metrics,
    /** Whether the custom resources of all kinds have been listed. */
    list(isDone: boolean): void {
      isListed = isDone;
    },
    pass(ms: number): void {
      now += ms;
    },
    put(
      name: string,
      state: State = 'well',
      more: Partial<KubeObject['metadata']> = {},
      spec: object = {},
    ): ClusterKey {
      const [namespace = '', plain = ''] = name.split('/');
      const made = testCluster(plain);
      const object = {
        ...made,
        metadata: { ...made.metadata, ...more, namespace, name: plain },
        spec: { ...(made.spec as object), ...spec },
        status: { initialized: true },
      };
      const key = `test/${name}`;
      clusters.set(key, object);
      states.set(key, state);
      tell(object, 'added');
      return key;
    },
    turns(key: ClusterKey, state: State): void {
      states.set(key, state);
      for (const call of onChild) call(key);
    },
    remove(key: ClusterKey): void {
      const object = clusters.get(key);
      clusters.delete(key);
      if (object !== undefined) tell(object, 'deleted');
    },
  };
}

const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

function objectsOf(state: State): KubeObject[] {
  const labels = { 'controller-revision-hash': state === 'rolling' ? 'old' : 'new' };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', generation: 1 },
      spec: { replicas: 1 },
      status: { observedGeneration: 1, updateRevision: 'new' },
    },
    ...(state === 'away' ? [] : [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', labels }, status: ready }]),
  ];
}

describe('a place', () => {
  it('is for one cluster at a time, and for the next one after that', () => {
    const { rollouts, put, woken } = world();
    const [a, b, c] = [put('apps/a'), put('apps/b'), put('apps/c')];
    expect(rollouts.take(a)).toBeUndefined();
    expect(rollouts.take(b)).toMatch(/another cluster|RedisCluster a/);
    expect(rollouts.take(c)).toContain('1 more is before it');
    rollouts.release(a);
    expect(woken).toEqual([b]);
    // The clusters wait in the order in which they asked.
    expect(rollouts.take(c)).toBeDefined();
    expect(rollouts.take(b)).toBeUndefined();
  });

  it("is nobody's until all clusters have been listed, but for who is in a rollout", () => {
    const { rollouts, put, list } = world();
    const [a, b] = [put('apps/a'), put('apps/b', 'rolling')];
    list(false);
    expect(rollouts.take(a)).toBe('the operator has listed all resources of PostgresCluster');
    expect(rollouts.take(b)).toBeUndefined();
    rollouts.release(b);
    put('apps/b');
    list(true);
    expect(rollouts.take(a)).toBeUndefined();
  });

  it('is held by a rollout that an earlier process has begun', () => {
    const { rollouts, put, turns } = world();
    const [a, b] = [put('apps/a', 'rolling'), put('apps/b')];
    expect(rollouts.take(b)).toBeDefined();
    expect(rollouts.take(a)).toBeUndefined();
    turns(a, 'well');
    rollouts.release(a);
    expect(rollouts.take(b)).toBeUndefined();
  });

  it('is kept while a rollout is stuck, for any time', () => {
    const { rollouts, put, turns, pass } = world();
    const [a, b] = [put('apps/a'), put('apps/b')];
    rollouts.take(a);
    turns(a, 'rolling');
    for (let i = 0; i < 100; i++) {
      pass(60_000);
      expect(rollouts.take(b)).toBeDefined();
    }
    expect(rollouts.isAwaited(a)).toBe(true);
    expect(rollouts.isAwaited(b)).toBe(false);
  });

  it.each<readonly [string, Partial<KubeObject['metadata']>, object]>([
    ['that a person has excluded', { annotations: { [ignoreLimitAnnotation]: 'true' } }, {}],
    ['that is paused', {}, { paused: true }],
    ['that is being deleted', { deletionTimestamp: '2026-11-29T00:00:00Z' }, {}],
  ])('is not held by a cluster %s', (_, metadata, spec) => {
    const { rollouts, put, woken } = world();
    const [a, b] = [put('apps/a', 'rolling'), put('apps/b')];
    expect(rollouts.take(b)).toBeDefined();
    put('apps/a', 'rolling', metadata, spec);
    expect(woken).toEqual([b]);
    expect(rollouts.take(b)).toBeUndefined();
    expect(rollouts.isAwaited(a)).toBe(false);
  });

  it('is free when its cluster is gone', () => {
    const { rollouts, put, woken, remove } = world();
    const [a, b] = [put('apps/a', 'rolling'), put('apps/b')];
    rollouts.take(b);
    remove(a);
    expect(woken).toEqual([b]);
    expect(rollouts.take(b)).toBeUndefined();
  });

  it('is for another one where it is not used', () => {
    const { rollouts, put, woken } = world();
    const [a, b] = [put('apps/a'), put('apps/b')];
    rollouts.take(a);
    rollouts.take(b);
    rollouts.giveBack(a);
    expect(woken).toEqual([b]);
    expect(rollouts.take(a)).toBeDefined();
    expect(rollouts.take(b)).toBeUndefined();
  });

  it('stays with who has begun, whatever fails meanwhile', () => {
    const { rollouts, put } = world();
    const [a, b] = [put('apps/a'), put('apps/b')];
    rollouts.take(a);
    rollouts.begun(a);
    rollouts.giveBack(a);
    expect(rollouts.take(b)).toBeDefined();
    rollouts.release(a);
    expect(rollouts.take(b)).toBeUndefined();
  });

  it('is held by what an earlier process has begun, and objects do not show, also beyond the limit', () => {
    const { rollouts, put, turns } = world();
    const [a, b, c] = [put('apps/a', 'rolling'), put('apps/b'), put('apps/c')];
    rollouts.isUnderway(b);
    turns(a, 'well');
    expect(rollouts.take(c)).toBeDefined();
    rollouts.release(b);
    expect(rollouts.take(c)).toBeUndefined();
  });

  it('is not held by what is under way in a cluster that a person has excluded', () => {
    const { rollouts, put } = world();
    const [a, b] = [put('apps/a', 'well', { annotations: { [ignoreLimitAnnotation]: 'true' } }), put('apps/b')];
    rollouts.isUnderway(a);
    expect(rollouts.take(b)).toBeUndefined();
  });

  it('is not kept by a cluster that this process has not let in, and that has a pod which is away but not outdated', () => {
    const { rollouts, put, turns } = world();
    const [a, b] = [put('apps/a', 'rolling'), put('apps/b')];
    expect(rollouts.take(b)).toBeDefined();
    turns(a, 'away');
    expect(rollouts.take(b)).toBeUndefined();
  });

  it.each([
    ['is for another one where it is not used, and not asked for any more', false, ['test/apps/b']],
    ['stays with who has begun, though it asks for nothing more', true, []],
  ])('%s', (_, isUsed, expected) => {
    const { rollouts, put, woken } = world();
    const [a, b] = [put('apps/a'), put('apps/b')];
    rollouts.take(a);
    rollouts.take(b);
    if (isUsed) rollouts.begun(a);
    rollouts.leave(a);
    expect(woken).toEqual(expected);
  });

  it('stays in line for who has not got it', () => {
    const { rollouts, put } = world();
    const [a, b, c] = [put('apps/a'), put('apps/b'), put('apps/c')];
    for (const key of [a, b, c]) rollouts.take(key);
    rollouts.giveBack(b);
    rollouts.release(a);
    expect(rollouts.take(c)).toBeDefined();
    expect(rollouts.take(b)).toBeUndefined();
  });

  it('wakes the next one when the first in line leaves, who has not taken it yet', () => {
    const { rollouts, put, woken } = world();
    const [a, b, c] = [put('apps/a'), put('apps/b'), put('apps/c')];
    for (const key of [a, b, c]) rollouts.take(key);
    rollouts.release(a);
    rollouts.leave(b);
    expect(woken).toEqual([b, c]);
  });

  it('is waited for by nobody who has left the line', async () => {
    const { rollouts, put, metrics } = world();
    const [, b] = [put('apps/a', 'rolling'), put('apps/b')];
    rollouts.take(b);
    rollouts.leave(b);
    expect(await metrics.text()).toContain('clusterwright_rollouts{state="waiting"} 0');
  });

  it('does not wait for one in line that a person has paused', () => {
    const { rollouts, put } = world();
    const [a, b, c] = [put('apps/a'), put('apps/b'), put('apps/c')];
    rollouts.take(a);
    rollouts.take(b);
    rollouts.take(c);
    put('apps/b', 'well', {}, { paused: true });
    rollouts.release(a);
    expect(rollouts.take(c)).toBeUndefined();
  });

  it('does not wait for one that has not asked for two minutes', () => {
    const { rollouts, put, pass } = world();
    const [a, b, c] = [put('apps/a'), put('apps/b'), put('apps/c')];
    rollouts.take(a);
    rollouts.take(b);
    pass(121_000);
    rollouts.release(a);
    expect(rollouts.take(c)).toBeUndefined();
  });

  it('is one of as many as there are', async () => {
    const { rollouts, put, metrics } = world(2);
    const [a, b, c] = [put('apps/a'), put('apps/b'), put('apps/c')];
    expect([a, b, c].map((key) => rollouts.take(key) === undefined)).toEqual([true, true, false]);
    const text = await metrics.text();
    expect(text).toContain('clusterwright_rollouts{state="running"} 2');
    expect(text).toContain('clusterwright_rollouts{state="waiting"} 1');
  });
});

it('names a cluster to those alone who may see its namespace', () => {
  const { rollouts, put } = world();
  put('apps/a', 'rolling');
  expect(rollouts.take(put('apps/b'))).toContain('RedisCluster a');
  const told = rollouts.take(put('bank/c')) ?? '';
  expect(told).toContain('another cluster');
  expect(told).not.toMatch(/apps|RedisCluster/);
});
