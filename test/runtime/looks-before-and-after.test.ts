/** What a plan says of itself as a whole, and of an action: whether to look again before it, and when after it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps, pods, statefulSets } from '../../src/api/resource.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { type FieldChange, type Plan, type Step, settled, wait } from '../../src/plan/plan.ts';
import { countsOnOthers, requiresLiveRead } from '../../src/runtime/fresh-look.ts';
import { act, type ReconcilerRig, reconcilerRig, rigKey } from '../support/reconciler-rig.ts';
import { testChild, testClaim, testCluster } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

const finds = (plan: Plan, act: () => Promise<void>): void => {
  rig.engine.find = () => ({ plan, act });
};

describe('a plan', () => {
  it.each<readonly [story: string, annotations: Readonly<Record<string, string>>, asked: number]>([
    ['taken back', {}, 0],
    ['changed', { 'clusterwright.dev/choose-primary': 'db-1' }, 0],
    [
      'left as it was, beside another of somebody else',
      { 'clusterwright.dev/choose-primary': 'db-0', 'a.b/c': 'd' },
      1,
    ],
  ])('that takes something away on request is not done where the request was %s', async (_, annotations, asked) => {
    const now = rig.cluster();
    const requested = { ...now.metadata, annotations: { 'clusterwright.dev/choose-primary': 'db-0' } };
    const seen = { ...now, metadata: { ...requested, generation: 1 }, status: { observedGeneration: 1 } };
    rig.api.put({ ...now, metadata: { ...now.metadata, annotations } });
    let did = 0;
    finds({ steps: [{ ...act, destructive: true }], outcome: settled }, async () => void did++);
    await rig.pass(seen);
    expect(did).toBe(asked);
  });

  it('that takes something away as a whole looks again, whatever its steps are, and however new the cluster is', async () => {
    const now = rig.cluster();
    const seen = { ...now, metadata: { ...now.metadata, annotations: { 'clusterwright.dev/recover-from': 'x' } } };
    let did = 0;
    finds({ steps: [act], outcome: settled, destructive: true }, async () => void did++);
    await rig.pass(seen);
    expect(did).toBe(0);
  });

  it.each<readonly [story: string, observedGeneration: number | undefined, isDone: boolean]>([
    ['as the CRD says by default', -1, true],
    ['as a CRD without that default says', undefined, true],
    ['not so', 1, false],
  ])(
    'that makes what is missing does not ask for the spec of a cluster that nobody has looked at: %s',
    async (_, observedGeneration, isDone) => {
      const now = rig.cluster();
      const status = observedGeneration === undefined ? {} : { observedGeneration };
      const seen = { ...now, metadata: { ...now.metadata, generation: 1 }, status };
      rig.api.put({ ...now, spec: { replicas: 5 } });
      rig.finds([{ type: 'create', object: testChild(now, 'ConfigMap') }]);
      const { outcome } = await rig.pass(seen);
      expect(outcome.state).toBe(isDone ? 'settled' : 'wait');
    },
  );

  it('whose action may be refused for long is followed when it says, not at once', async () => {
    const outcome = wait('Joining', 'it catches up', 5_000);
    finds({ steps: [{ ...act, unhurried: true }], outcome }, async () => undefined);
    expect((await rig.pass()).again).toBe(5_000);
    finds({ steps: [act], outcome }, async () => undefined);
    expect((await rig.pass()).again).toBe(50);
  });
});

describe('before a member is stopped', () => {
  const set: KubeObject = {
    ...testChild(testCluster('db'), 'ConfigMap'),
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    spec: { replicas: 3 },
  };
  const resized = (...changes: readonly FieldChange[]): Step => ({ type: 'apply', object: set, changes });
  const replicas = (from: number, to: number): FieldChange => ({ path: 'spec.replicas', from, to });
  const podNamed = (name: string, more: Partial<KubeObject> = {}): KubeObject => {
    const pod = testChild(testCluster('db'), 'Pod');
    return { ...pod, metadata: { ...pod.metadata, name }, ...more };
  };
  const writes = (): readonly string[] => rig.api.writes.filter((write) => !write.endsWith('/status'));
  const removed = (kind: 'Pod' | 'ConfigMap', { metadata }: KubeObject): Step => ({
    type: 'delete',
    ref: {
      resource: kind === 'Pod' ? pods : configMaps,
      namespace: 'apps',
      name: metadata.name,
      uid: metadata.uid ?? '',
    },
    reason: 'it is outdated',
  });

  it.each<readonly [story: string, step: Step, isDone: boolean]>([
    ['fewer are wanted', resized({ path: 'spec.image', from: 'a', to: 'b' }, replicas(3, 2)), false],
    ['more are wanted', resized(replicas(2, 3)), true],
    ['as many are wanted', resized(replicas(3, 3)), true],
    ['nothing is said of how many', resized({ path: 'spec.ordinal', from: 3, to: 2 }), true],
  ])('the spec is asked for anew only where that may be: %s', async (_, step, isDone) => {
    const now = rig.cluster();
    const seen = { ...now, metadata: { ...now.metadata, generation: 1 }, status: { observedGeneration: 1 } };
    rig.api.put({ ...now, spec: { replicas: 5 } });
    rig.finds([act, step]);
    const { outcome } = await rig.pass(seen);
    expect([outcome.state, writes().length > 0]).toEqual(isDone ? ['settled', true] : ['wait', false]);
  });

  it.each<readonly [story: string, stopping: 'pod' | 'set' | 'neither' | 'plan', isDone: boolean]>([
    ['a pod restarts', 'pod', false],
    ['a set becomes smaller', 'set', false],
    ['something else goes', 'neither', true],
    ['the plan as a whole takes something away', 'plan', false],
  ])('the others are looked at, and one of them is gone: %s', async (_, stopping, isDone) => {
    const [one] = [rig.api.put(podNamed('db-0')), rig.api.put(podNamed('db-1'))];
    const other = rig.api.put({ ...testChild(rig.cluster(), 'ConfigMap') });
    await rig.pass();
    await turn();
    rig.api.lag();
    rig.api.vanish('Pod', 'db-1');
    const step = {
      pod: removed('Pod', one),
      set: resized(replicas(3, 2)),
      neither: removed('ConfigMap', other),
      plan: act,
    };
    const plan: Plan = { steps: [act, step[stopping]], outcome: settled };
    let did = 0;
    finds(stopping === 'plan' ? { ...plan, destructive: true } : plan, async () => void did++);
    expect([(await rig.pass()).outcome.state, did > 0]).toEqual([isDone ? 'settled' : 'wait', isDone]);
  });

  it.each<readonly [story: string, memory: string, isDone: boolean]>([
    ['that is done by now', '2Gi', false],
    ['that is still not done', '1Gi', true],
  ])('%s: a pod restarts for being late only on what is so now', async (_, memory, isDone) => {
    const { apiVersion, kind, metadata } = podNamed('db-0');
    const annotations = { 'clusterwright.dev/resize': 'new 2026-11-28T12:00:00Z' };
    const told = (amount: string): KubeObject => ({
      ...{ apiVersion, kind, metadata: { ...metadata, annotations } },
      status: { containerStatuses: [{ name: 'db', resources: { limits: { memory: amount } } }] },
    });
    const seen = rig.api.put(told('1Gi'));
    await rig.pass();
    await turn();
    rig.api.lag();
    rig.api.put({ ...told(memory), metadata: seen.metadata });
    rig.finds([removed('Pod', seen)]);
    await rig.pass();
    expect(rig.api.writes.some((write) => write.startsWith('DELETE'))).toBe(isDone);
  });

  it('one of them that is another by now is not the one that was seen', async () => {
    const [one, other] = [rig.api.put(podNamed('db-0')), rig.api.put(podNamed('db-1'))];
    await rig.pass();
    await turn();
    rig.api.lag();
    rig.api.vanish('Pod', 'db-1');
    rig.api.put({ ...other, metadata: { ...other.metadata, uid: 'another' } });
    rig.finds([removed('Pod', one)]);
    expect((await rig.pass()).outcome).toMatchObject({ reason: 'Outdated' });
    expect(writes()).toEqual([]);
  });

  it.each<readonly [story: string, change: (claim: KubeObject) => void]>([
    [
      'is about to go with its pod',
      (claim) => {
        const deletionTimestamp = '2030-01-01T00:00:00Z';
        rig.api.put({ ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
      },
    ],
    ['is gone', ({ metadata: { name } }) => rig.api.vanish('PersistentVolumeClaim', name)],
  ])('the claim of a pod is looked at as well: it %s', async (_, change) => {
    const one = rig.api.put(podNamed('db-0'));
    const claim = rig.api.put(testClaim(rig.cluster()));
    await rig.pass();
    await turn();
    rig.api.lag();
    change(claim);
    rig.finds([removed('Pod', one)]);
    expect((await rig.pass()).outcome).toMatchObject({ reason: 'Outdated' });
    expect(writes()).toEqual([]);
    await rig.pass();
    expect(writes()).toEqual(['DELETE pods/db-0']);
  });

  it('a StatefulSet that no watch shows, and that its pod has told of, goes: there is nothing to compare it with', async () => {
    const labels = { ...set.metadata.labels, 'app.kubernetes.io/instance': 'another' };
    const { metadata } = rig.api.put({ ...set, metadata: { ...set.metadata, labels } });
    const ref = { resource: statefulSets, namespace: 'apps', name: 'db', uid: metadata.uid ?? '' };
    rig.finds([{ type: 'delete', ref, reason: 'its member has been removed' }]);
    await rig.pass({ ...rig.cluster(), status: { observedGeneration: 1 } });
    expect(writes()).toEqual(['DELETE statefulsets/db']);
  });
});

describe('another cluster of the name', () => {
  it('is not what a plan was made for', async () => {
    const now = rig.cluster();
    const seen = { ...now, status: { observedGeneration: 1 } };
    rig.api.vanish('RedisCluster', 'db');
    rig.api.put({ ...now, metadata: { ...now.metadata, uid: 'another' } });
    rig.finds([{ type: 'create', object: testChild(seen, 'ConfigMap') }]);
    expect((await rig.pass(seen)).outcome).toMatchObject({ reason: 'Outdated' });
    expect(rig.api.list('ConfigMap')).toEqual([]);
  });

  it('loses nothing to the end of the one before it', async () => {
    const now = rig.cluster();
    const metadata = { ...now.metadata, finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
    const seen = { ...now, metadata, spec: { deletionPolicy: 'Delete' } };
    rig.api.vanish('RedisCluster', 'db');
    rig.api.put({ ...now, metadata: { ...now.metadata, uid: 'another' } });
    rig.api.put(testClaim(now));
    await turn();
    expect((await rig.pass(seen)).outcome).toMatchObject({ reason: 'Outdated' });
    expect(rig.api.list('PersistentVolumeClaim')).toHaveLength(1);
  });
});

describe('a change of an object', () => {
  it.each<readonly [story: string, meanwhile: 'gone' | 'another', left: readonly string[]]>([
    ['that is gone by now makes it not again', 'gone', []],
    ['in whose place there is one of somebody else does not take that', 'another', ['theirs']],
  ])('%s', async (_, meanwhile, left) => {
    const child = testChild(rig.cluster(), 'ConfigMap', 'old');
    rig.api.put(child);
    await turn();
    rig.api.lag();
    rig.api.vanish('ConfigMap', 'db');
    if (meanwhile === 'another') {
      rig.api.put({ ...child, metadata: { name: 'db', namespace: 'apps' }, data: { data: 'theirs' } });
    }
    const wanted = testChild(rig.cluster(), 'ConfigMap', 'new');
    rig.finds(objectSteps([{ object: wanted }], rig.cache.children(rigKey)));
    await expect(rig.pass()).rejects.toThrow('update ConfigMap db');
    const found = rig.api.list('ConfigMap').map((each) => (each.data as { data: string }).data);
    expect(found).toEqual(left);
  });
});

describe('a resize of a pod', () => {
  const resize: Step = {
    type: 'resize',
    ref: { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid' },
    containers: [],
    changes: [],
  };

  it('is not done on a spec that has changed since, as a restart is not', async () => {
    const now = rig.cluster();
    finds({ steps: [resize], outcome: settled }, async () => undefined);
    rig.api.put({ ...now, spec: { replicas: 5 } });
    await rig.pass({ ...now, metadata: { ...now.metadata, generation: 1 }, status: { observedGeneration: 1 } });
    expect(rig.api.writes.filter((write) => write.includes('/resize'))).toEqual([]);
  });

  it('counts on the other pods, as a restart does', () => expect(countsOnOthers(resize)).toBe(true));
});

it.each<readonly [string, number, boolean]>([
  ['a pod goes', 2, true],
  ['a pod is added', 5, false],
])('a size that is written without the template is judged as with it: %s', (_, to, counts) => {
  const ref = { resource: statefulSets, namespace: 'apps', name: 'db', uid: 'uid' };
  const scaled = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' } };
  const changes = [{ path: 'spec.replicas', from: 3, to }];
  const step: Step = { type: 'patch', ref, patch: { spec: { replicas: to } }, changes, scaled };
  expect([countsOnOthers(step), requiresLiveRead(step)]).toEqual([counts, counts]);
});
