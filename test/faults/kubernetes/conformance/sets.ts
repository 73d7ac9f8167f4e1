/** StatefulSets, their claims and the scheduler, mostly by pods that wait for a node, which are pods all the same. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import {
  accepted,
  type ConformanceCase,
  claimTemplate,
  type Json,
  listed,
  made,
  namesOf,
  pathIn,
  read,
  type Scene,
  statefulSet,
  statefulSets,
} from './conformance-case.ts';

/** Pods of it fit on no node, so that they never run, with nodes or without. */
const nowhere: Json = { nodeSelector: { 'clusterwright.dev/nowhere': 'true' } };

const waitingSet = (scene: Scene, replicas: number, spec: Json = {}): Json =>
  statefulSet(scene, 'a', { replicas, ...spec }, nowhere);

const living = (pods: readonly KubeObject[]): readonly KubeObject[] =>
  pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

async function podNames(scene: Scene, expected: readonly string[]): Promise<readonly KubeObject[]> {
  return scene.until(`the pods ${expected.join(', ')}`, async () => {
    const pods = await listed(scene, 'pods');
    expect(namesOf(pods)).toEqual(expected);
    return living(pods);
  });
}

async function claimNames(scene: Scene): Promise<readonly string[]> {
  return namesOf(await listed(scene, 'persistentvolumeclaims'));
}

async function change(scene: Scene, spec: Json): Promise<KubeObject> {
  return accepted(await scene.call('PATCH', pathIn(scene, statefulSets, 'a'), { type: 'merge', body: { spec } }));
}

async function observed(scene: Scene): Promise<Json> {
  return scene.until('the generation observed', async () => {
    const set = await read(scene, statefulSets, 'a');
    const status = set.status as Json;
    expect(status.observedGeneration).toBe(set.metadata.generation);
    return status;
  });
}

/** With the fields of every object in the other order. */
function inReverse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inReverse);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, inReverse(inner)]),
  );
}

const remove = (scene: Scene, collection: string, name: string, options: Json = {}) =>
  scene.call('DELETE', pathIn(scene, collection, name), {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
  });

export const setCases: readonly ConformanceCase[] = [
  {
    story: 'pods and claims of every ordinal, as the templates say',
    async play(scene) {
      const set = await made(scene, statefulSets, waitingSet(scene, 2, { volumeClaimTemplates: [claimTemplate] }));
      const [pod] = await podNames(scene, ['a-0', 'a-1']);
      expect(pod?.metadata.labels).toMatchObject({
        app: 'a',
        'apps.kubernetes.io/pod-index': '0',
        'statefulset.kubernetes.io/pod-name': 'a-0',
        'controller-revision-hash': expect.stringMatching(/^a-/),
      });
      expect(pod?.metadata.ownerReferences).toEqual([
        {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          name: 'a',
          uid: set.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      expect(pod?.spec).toMatchObject({ hostname: 'a-0', subdomain: 'a' });
      const { volumes } = (pod?.spec ?? {}) as { volumes: readonly Json[] };
      expect(volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-a-0' } });
      expect(await claimNames(scene)).toEqual(['data-a-0', 'data-a-1']);
      const claim = await read(scene, 'persistentvolumeclaims', 'data-a-0');
      expect(claim.metadata).toMatchObject({ labels: { app: 'a' }, finalizers: ['kubernetes.io/pvc-protection'] });
      expect(claim.metadata.ownerReferences).toBeUndefined();
      // The pass that makes the pods does not count them yet.
      await scene.until('both counted', async () => {
        const status = await observed(scene);
        const updateRevision = pod?.metadata.labels?.['controller-revision-hash'];
        expect(status).toMatchObject({ replicas: 2, updateRevision });
        expect(status.readyReplicas ?? 0).toBe(0);
      });
    },
  },
  {
    story: 'scaled in, the highest ordinals go and their claims stay; scaled out, they are found again',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 3, { volumeClaimTemplates: [claimTemplate] }));
      await podNames(scene, ['a-0', 'a-1', 'a-2']);
      const before = await read(scene, 'persistentvolumeclaims', 'data-a-2');
      await change(scene, { replicas: 1 });
      await podNames(scene, ['a-0']);
      expect(await claimNames(scene)).toEqual(['data-a-0', 'data-a-1', 'data-a-2']);
      await change(scene, { replicas: 3 });
      await podNames(scene, ['a-0', 'a-1', 'a-2']);
      expect((await read(scene, 'persistentvolumeclaims', 'data-a-2')).metadata.uid).toBe(before.metadata.uid);
    },
  },
  {
    story: 'one after the other, unless they may start in parallel',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 3, { podManagementPolicy: 'OrderedReady' }));
      await podNames(scene, ['a-0']);
      await scene.pause(500);
      await podNames(scene, ['a-0']);
    },
  },
  {
    story: 'a deleted pod comes back as another of its name',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 1));
      const [before] = await podNames(scene, ['a-0']);
      await remove(scene, 'pods', 'a-0');
      await scene.until('another pod', async () => {
        expect((await read(scene, 'pods', 'a-0')).metadata.uid).not.toBe(before?.metadata.uid);
      });
    },
  },
  {
    story: 'on delete: a new template is a new revision, which only pods that are made anew get',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 2));
      const before = await podNames(scene, ['a-0', 'a-1']);
      const old = (await observed(scene)).updateRevision;
      await change(scene, { template: { metadata: { annotations: { x: '1' } } } });
      const { updateRevision } = await observed(scene);
      expect(updateRevision).not.toBe(old);
      await scene.pause(300);
      const after = await podNames(scene, ['a-0', 'a-1']);
      expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
      await remove(scene, 'pods', 'a-1');
      await scene.until('the new revision', async () => {
        const pod = await read(scene, 'pods', 'a-1');
        expect(pod.metadata.labels?.['controller-revision-hash']).toBe(updateRevision);
        expect(pod.metadata.annotations).toEqual({ x: '1' });
      });
      expect((await read(scene, 'pods', 'a-0')).metadata.labels?.['controller-revision-hash']).toBe(old);
      await change(scene, { template: { metadata: { annotations: null } } });
      await scene.until('the old revision again', async () => expect((await observed(scene)).updateRevision).toBe(old));
    },
  },
  {
    story: 'with the set, its pods go and its claims stay',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 2, { volumeClaimTemplates: [claimTemplate] }));
      await podNames(scene, ['a-0', 'a-1']);
      await remove(scene, statefulSets, 'a', { propagationPolicy: 'Background' });
      await podNames(scene, []);
      expect(await claimNames(scene)).toEqual(['data-a-0', 'data-a-1']);
    },
  },
  {
    story: 'claims that are to be deleted with the set',
    async play(scene) {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Retain' };
      const spec = { volumeClaimTemplates: [claimTemplate], persistentVolumeClaimRetentionPolicy };
      const set = await made(scene, statefulSets, waitingSet(scene, 2, spec));
      await podNames(scene, ['a-0', 'a-1']);
      await scene.until('an owner', async () => {
        const { ownerReferences = [] } = (await read(scene, 'persistentvolumeclaims', 'data-a-1')).metadata;
        expect(ownerReferences.map(({ uid }) => uid)).toEqual([set.metadata.uid]);
      });
      await change(scene, { replicas: 1 });
      await podNames(scene, ['a-0']);
      expect(await claimNames(scene)).toEqual(['data-a-0', 'data-a-1']);
      await remove(scene, statefulSets, 'a', { propagationPolicy: 'Background' });
      await scene.until('no claims', async () => expect(await claimNames(scene)).toEqual([]));
    },
  },
  {
    story: 'claims that are to be deleted with their pod',
    async play(scene) {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Retain', whenScaled: 'Delete' };
      const spec = { volumeClaimTemplates: [claimTemplate], persistentVolumeClaimRetentionPolicy };
      await made(scene, statefulSets, waitingSet(scene, 3, spec));
      await podNames(scene, ['a-0', 'a-1', 'a-2']);
      await change(scene, { replicas: 1 });
      await scene.until('one claim', async () => expect(await claimNames(scene)).toEqual(['data-a-0']));
    },
  },
  {
    story: 'a set that was deleted without its pods is succeeded by one that takes them',
    async play(scene) {
      const set = waitingSet(scene, 2);
      await made(scene, statefulSets, set);
      const before = await podNames(scene, ['a-0', 'a-1']);
      await remove(scene, statefulSets, 'a', { propagationPolicy: 'Orphan' });
      await scene.until('orphans', async () => {
        for (const pod of await podNames(scene, ['a-0', 'a-1'])) expect(pod.metadata.ownerReferences).toBeUndefined();
      });
      await scene.until('the set gone', async () => expect(await listed(scene, statefulSets)).toEqual([]));
      const next = await made(scene, statefulSets, set);
      await scene.until('adoption', async () => {
        const pods = await podNames(scene, ['a-0', 'a-1']);
        expect(pods.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
        for (const pod of pods)
          expect(pod.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([next.metadata.uid]);
      });
    },
  },
  {
    story: 'the same template has the same revision, in whatever order its fields are written',
    async play(scene) {
      const set = waitingSet(scene, 1);
      await made(scene, statefulSets, set);
      const { updateRevision } = await observed(scene);
      await remove(scene, statefulSets, 'a', { propagationPolicy: 'Background' });
      await podNames(scene, []);
      await scene.until('the set gone', async () => expect(await listed(scene, statefulSets)).toEqual([]));
      await made(scene, statefulSets, inReverse(set) as Json);
      expect((await observed(scene)).updateRevision).toBe(updateRevision);
    },
  },
  {
    story: 'a claim that only a waiting pod uses goes at once, and is made anew when something of the set changes',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 1, { volumeClaimTemplates: [claimTemplate] }));
      await podNames(scene, ['a-0']);
      const before = await read(scene, 'persistentvolumeclaims', 'data-a-0');
      await remove(scene, 'persistentvolumeclaims', 'data-a-0');
      let touched = 0;
      await scene.until('another claim', async () => {
        // Nothing tells the controller of a claim: it looks when a pod changes.
        const body = { metadata: { annotations: { touched: String(touched++) } } };
        accepted(await scene.call('PATCH', pathIn(scene, 'pods', 'a-0'), { type: 'merge', body }));
        const { uid } = (await read(scene, 'persistentvolumeclaims', 'data-a-0')).metadata;
        expect(uid).not.toBe(before.metadata.uid);
      });
    },
  },
  {
    story: 'a claim that is not bound keeps its size',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 1, { volumeClaimTemplates: [claimTemplate] }));
      await podNames(scene, ['a-0']);
      const body = { spec: { resources: { requests: { storage: '2Mi' } } } };
      const path = pathIn(scene, 'persistentvolumeclaims', 'data-a-0');
      expect((await scene.call('PATCH', path, { type: 'merge', body })).status).toBe(422);
    },
  },
  {
    story: 'a pod waits for a node that suits it, and says so',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 1));
      await scene.until('the scheduler', async () => {
        const pod = await read(scene, 'pods', 'a-0');
        const status = pod.status as { phase: string; conditions?: readonly Json[] };
        expect(status.phase).toBe('Pending');
        expect(status.conditions).toContainEqual(
          expect.objectContaining({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }),
        );
      });
    },
  },
  {
    story: 'a pod that asks for more than any node has waits, and one that asks for less does not',
    pods: true,
    async play(scene) {
      const asking = (memory: string): Json => {
        const containers = [{ ...scene.container, resources: { requests: { memory } } }];
        return { template: { spec: { containers } } };
      };
      await made(scene, statefulSets, statefulSet(scene, 'a', { replicas: 0 }));
      await change(scene, { replicas: 1, ...asking('1000Ti') });
      await scene.until('the scheduler', async () => {
        const { conditions = [] } = (await read(scene, 'pods', 'a-0')).status as { conditions?: readonly Json[] };
        expect(conditions).toContainEqual(expect.objectContaining({ type: 'PodScheduled', reason: 'Unschedulable' }));
      });
      await change(scene, asking('1Mi'));
      await scene.until('the new revision seen', () => observed(scene));
      await remove(scene, 'pods', 'a-0');
      await scene.until('it runs', async () => {
        expect((await read(scene, 'pods', 'a-0')).status).toMatchObject({ phase: 'Running' });
      });
    },
  },
  {
    story: 'a pod keeps what it was made with, but for its labels',
    async play(scene) {
      await made(scene, statefulSets, waitingSet(scene, 1));
      const [pod] = await podNames(scene, ['a-0']);
      const path = pathIn(scene, 'pods', 'a-0');
      const body = { metadata: { labels: { role: 'primary' } } };
      const labelled = accepted(await scene.call('PATCH', path, { type: 'merge', body }));
      expect(labelled.metadata).toMatchObject({ generation: pod?.metadata.generation, labels: { role: 'primary' } });
      const spec = { hostname: 'other' };
      expect((await scene.call('PATCH', path, { type: 'merge', body: { spec } })).status).toBe(422);
    },
  },
];
