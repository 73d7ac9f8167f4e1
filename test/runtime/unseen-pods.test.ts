/** Pods whose labels somebody has changed, so that the watch does not show them. */
import { afterEach, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { type Children, childrenOf } from '../../src/resources/children.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { createUnseenPods } from '../../src/runtime/unseen-pods.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const matchLabels = { app: 'db' };
const set = (wanted: number, has: number, observedGeneration = 3): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'apps', generation: 3 },
  spec: { replicas: wanted, selector: { matchLabels } },
  status: { replicas: has, observedGeneration },
});
const pod = (name: string, app: string, more: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'apps',
    uid: `uid-${name}`,
    labels: { app, 'statefulset.kubernetes.io/pod-name': name },
    ...more,
  },
  spec: { nodeName: 'here', hostname: 'not kept' },
});

/** What is read, and which pods there are afterwards. */
async function look(objects: readonly KubeObject[], ...stored: readonly KubeObject[]) {
  const read: string[] = [];
  const get = async ({ name = '' }): Promise<KubeObject> => {
    read.push(name);
    const found = stored.find(({ metadata }) => metadata.name === name);
    if (found !== undefined) return found;
    throw new ApiError({ status: 404, reason: 'NotFound', message: 'no', method: 'GET', path: '/' });
  };
  const { pods } = await createUnseenPods({ get }, new VirtualClock())(childrenOf(objects), {});
  return { read, pods: pods.map(({ metadata }) => metadata.name) };
}

it('are asked for where the StatefulSet has fewer than it wants', async () => {
  const others = [pod('db-0', 'db'), pod('db-2', 'db')];
  expect(await look([set(3, 2), ...others], pod('db-1', 'mine'))).toEqual({
    read: ['db-1'],
    pods: ['db-0', 'db-1', 'db-2'],
  });
});

it.each<readonly [story: string, children: readonly KubeObject[]]>([
  ['it has all of them', [set(3, 3)]],
  ['it has yet to take up what it is to be', [set(3, 2, 2)]],
  ['none is missing', [set(1, 0), pod('db-0', 'db')]],
  ['there is none', []],
])('are not asked for where %s', async (_, children) => {
  expect((await look(children, pod('db-1', 'mine'))).read).toEqual([]);
});

it.each<readonly [story: string, stored: readonly KubeObject[]]>([
  ['is gone', []],
  ['comes with the watch', [pod('db-0', 'db')]],
  ['somebody else has made', [pod('db-0', 'mine', { labels: { app: 'mine' } })]],
  [
    'belongs to something else',
    [pod('db-0', 'mine', { ownerReferences: [{ apiVersion: 'x', kind: 'K', name: 'n', uid: 'u' }] })],
  ],
])('are none of ours where one %s', async (_, stored) => {
  expect(await look([set(1, 0)], ...stored)).toEqual({ read: ['db-0'], pods: [] });
});

it('are bounded, whatever number somebody has written', async () => {
  expect((await look([set(20_000_000, 0)])).read.length).toBe(16);
});

it('a pod that cannot be read is no pod that is gone', async () => {
  const forbidden = new ApiError({ status: 403, reason: 'Forbidden', message: 'no', method: 'GET', path: '/' });
  const get = (): Promise<never> => Promise.reject(forbidden);
  await expect(createUnseenPods({ get }, new VirtualClock())(childrenOf([set(1, 0)]), {})).rejects.toBe(forbidden);
});

it('one that is not there is asked for again after ten seconds, one that is each time', async () => {
  const clock = new VirtualClock();
  const read: string[] = [];
  let there = false;
  const get = async ({ name = '' }): Promise<KubeObject> => {
    read.push(name);
    if (there) return pod(name, 'mine');
    throw new ApiError({ status: 404, reason: 'NotFound', message: 'no', method: 'GET', path: '/' });
  };
  const unseenPods = createUnseenPods({ get }, clock);
  const looked = async (ms: number): Promise<number[]> => {
    await clock.advance(ms);
    const { pods } = await unseenPods(childrenOf([set(1, 0)]), {});
    return [read.length, pods.length];
  };
  expect(await looked(0)).toEqual([1, 0]);
  expect(await looked(9_999)).toEqual([1, 0]);
  there = true;
  expect(await looked(1)).toEqual([2, 1]);
  expect(await looked(0)).toEqual([3, 1]);
});

let rig: ReconcilerRig | undefined;
afterEach(() => rig?.stop());

it.each<readonly [story: string, more: Readonly<Record<string, string>>]>([
  ['without our labels', {}],
  ['with the name of another cluster', { 'app.kubernetes.io/instance': 'other' }],
])('%s are there for a look at the cluster, as the cache would have them', async (_, more) => {
  const cluster = testCluster('db', {}, { uid: 'uid-of-db' });
  rig = await reconcilerRig([cluster]);
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  rig.api.put({ ...set(1, 0, 1), metadata });
  rig.api.put(pod('db-0', 'mine', { labels: { 'statefulset.kubernetes.io/pod-name': 'db-0', ...more } }));
  await turn();
  let seen: Children['pods'] = [];
  rig.engine.find = (_, { pods }) => {
    seen = pods;
    return {};
  };
  await rig.pass();
  const kept = { nodeName: 'here', terminationGracePeriodSeconds: 30 };
  expect(seen.map(({ metadata: { name, uid }, spec }) => [name, uid !== undefined, spec])).toEqual([
    ['db-0', true, kept],
  ]);
});
