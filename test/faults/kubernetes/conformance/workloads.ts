/** Pods that run: how they start, tell of themselves, end, and what stays of them. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import {
  accepted,
  type ConformanceCase,
  claimTemplate,
  configMap,
  type Json,
  listed,
  made,
  pathIn,
  read,
  type Scene,
  statefulSet,
  statefulSets,
  verdict,
} from './conformance-case.ts';

interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly containerStatuses?: readonly {
    readonly ready: boolean;
    readonly restartCount: number;
    readonly started?: boolean;
  }[];
}

const statusOf = (pod: KubeObject): PodStatus => pod.status as PodStatus;

const condition = (pod: KubeObject, type: string): string | undefined =>
  statusOf(pod).conditions?.find((one) => one.type === type)?.status;

async function ready(scene: Scene, name: string, other?: KubeObject): Promise<KubeObject> {
  return scene.until(`${name} ready`, async () => {
    const pod = await read(scene, 'pods', name);
    expect(pod.metadata.uid).not.toBe(other?.metadata.uid);
    expect(condition(pod, 'Ready')).toBe('True');
    return pod;
  });
}

const exec = (...command: readonly string[]): Json => ({ exec: { command } });

const remove = (scene: Scene, name: string, options: Json = {}) =>
  scene.call('DELETE', pathIn(scene, 'pods', name), { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options } });

async function allReady(scene: Scene, count: number): Promise<Json> {
  return scene.until(`${count} ready`, async () => {
    const set = await read(scene, statefulSets, 'a');
    expect(set.status).toMatchObject({
      observedGeneration: set.metadata.generation,
      replicas: count,
      readyReplicas: count,
    });
    return set.status as Json;
  });
}

export const workloadCases: readonly ConformanceCase[] = [
  {
    story: 'a pod that runs has an address, a node and its conditions',
    pods: true,
    async play(scene) {
      await made(scene, statefulSets, statefulSet(scene, 'a'));
      const pod = await ready(scene, 'a-0');
      expect(statusOf(pod)).toMatchObject({ phase: 'Running', podIP: expect.stringMatching(/^10\./) });
      expect((pod.spec as Json).nodeName).toEqual(expect.any(String));
      for (const type of ['PodScheduled', 'Initialized', 'ContainersReady']) expect(condition(pod, type)).toBe('True');
      expect(statusOf(pod).containerStatuses).toMatchObject([{ ready: true, started: true, restartCount: 0 }]);
      expect(await allReady(scene, 1)).toMatchObject({ availableReplicas: 1, updatedReplicas: 1 });
    },
  },
  {
    story: 'a pod is not ready before its probes say so',
    pods: true,
    async play(scene) {
      const container = { ...scene.container, readinessProbe: { ...exec('false'), periodSeconds: 1 } };
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, { containers: [container] }));
      const pod = await scene.until('it runs', async () => {
        const found = await read(scene, 'pods', 'a-0');
        expect(statusOf(found).phase).toBe('Running');
        return found;
      });
      await scene.pause(1500);
      expect(condition(await read(scene, 'pods', pod.metadata.name), 'Ready')).toBe('False');
    },
  },
  {
    story: 'a container that is found dead is started again, in the same pod at the same address',
    pods: true,
    async play(scene) {
      const container = {
        ...scene.container,
        livenessProbe: { ...exec('sh', '-c', 'exit 1'), periodSeconds: 1, failureThreshold: 2 },
      };
      // The first process of a container need not hear SIGTERM: then its grace has to pass.
      const podSpec = { terminationGracePeriodSeconds: 1, containers: [container] };
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, podSpec));
      const first = await scene.until('it runs', async () => {
        const pod = await read(scene, 'pods', 'a-0');
        expect(statusOf(pod).podIP).toBeDefined();
        return pod;
      });
      await scene.until('a restart', async () => {
        const pod = await read(scene, 'pods', 'a-0');
        expect(statusOf(pod).containerStatuses?.[0]?.restartCount).toBeGreaterThan(0);
        expect([pod.metadata.uid, statusOf(pod).podIP]).toEqual([first.metadata.uid, statusOf(first).podIP]);
      });
    },
  },
  {
    story: 'a deleted pod takes its time, and is followed by another at another address',
    pods: true,
    async play(scene) {
      const podSpec = {
        terminationGracePeriodSeconds: 5,
        containers: [{ ...scene.container, lifecycle: { preStop: exec('sleep', '2') } }],
      };
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, podSpec));
      const first = await ready(scene, 'a-0');
      const answer = accepted(await remove(scene, 'a-0'));
      expect(answer.metadata).toMatchObject({ deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 5 });
      const still = await read(scene, 'pods', 'a-0');
      expect(still.metadata).toMatchObject({ uid: first.metadata.uid });
      const second = await ready(scene, 'a-0', first);
      expect(statusOf(second).podIP).not.toBe(statusOf(first).podIP);
    },
  },
  {
    story: 'a pod deleted without grace is gone at once',
    pods: true,
    async play(scene) {
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, { terminationGracePeriodSeconds: 30 }));
      const first = await ready(scene, 'a-0');
      await remove(scene, 'a-0', { gracePeriodSeconds: 0, preconditions: { uid: first.metadata.uid } });
      await ready(scene, 'a-0', first);
    },
  },
  {
    story: 'a volume binds its claim and its pods to one node',
    pods: true,
    async play(scene) {
      const container = { ...scene.container, volumeMounts: [{ name: 'data', mountPath: '/data' }] };
      const spec = { volumeClaimTemplates: [claimTemplate] };
      await made(scene, statefulSets, statefulSet(scene, 'a', spec, { containers: [container] }));
      const first = await ready(scene, 'a-0');
      const claim = await read(scene, 'persistentvolumeclaims', 'data-a-0');
      expect(claim.status).toMatchObject({ phase: 'Bound', capacity: { storage: '1Mi' } });
      expect((claim.spec as Json).volumeName).toEqual(expect.any(String));
      const { nodeName } = first.spec as Json;
      expect(claim.metadata.annotations).toMatchObject({ 'volume.kubernetes.io/selected-node': nodeName });
      await remove(scene, 'a-0');
      const second = await ready(scene, 'a-0', first);
      expect((second.spec as Json).nodeName).toBe(nodeName);
    },
  },
  {
    story: 'a claim that a pod uses is deleted when the pod is gone',
    pods: true,
    async play(scene) {
      await made(scene, statefulSets, statefulSet(scene, 'a', { volumeClaimTemplates: [claimTemplate] }));
      await ready(scene, 'a-0');
      const path = pathIn(scene, 'persistentvolumeclaims', 'data-a-0');
      await scene.call('DELETE', path);
      await scene.pause(500);
      expect((await read(scene, 'persistentvolumeclaims', 'data-a-0')).metadata.deletionTimestamp).toBeDefined();
      await scene.call('PATCH', pathIn(scene, statefulSets, 'a'), { type: 'merge', body: { spec: { replicas: 0 } } });
      await scene.until('no claim', async () => expect(await listed(scene, 'persistentvolumeclaims')).toEqual([]));
    },
  },
  {
    story: 'a claim never shrinks, and grows only where its class lets it',
    pods: true,
    async play(scene) {
      await made(scene, statefulSets, statefulSet(scene, 'a', { volumeClaimTemplates: [claimTemplate] }));
      await ready(scene, 'a-0');
      const sized = async (storage: string): Promise<string> => {
        const body = { spec: { resources: { requests: { storage } } } };
        return verdict(
          await scene.call('PATCH', pathIn(scene, 'persistentvolumeclaims', 'data-a-0'), { type: 'merge', body }),
        );
      };
      expect(await sized('512Ki')).toBe('422 Invalid');
      expect(await sized('2Mi')).toBe('403 Forbidden');
    },
  },
  {
    story: 'a pod waits for the ConfigMap that it mounts',
    pods: true,
    async play(scene) {
      const container = { ...scene.container, volumeMounts: [{ name: 'config', mountPath: '/config' }] };
      const volumes = [{ name: 'config', configMap: { name: 'later' } }];
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, { containers: [container], volumes }));
      await scene.until('its pod made', () => read(scene, 'pods', 'a-0'));
      await scene.pause(1500);
      expect(statusOf(await read(scene, 'pods', 'a-0')).phase).toBe('Pending');
      await made(scene, 'configmaps', configMap('later'));
      await ready(scene, 'a-0');
    },
  },
  {
    story: 'an update rolls from the highest ordinal down, one pod at a time',
    pods: true,
    async play(scene) {
      const updateStrategy = { type: 'RollingUpdate' };
      await made(scene, statefulSets, statefulSet(scene, 'a', { replicas: 2, updateStrategy }));
      const before = await allReady(scene, 2);
      const template = { metadata: { annotations: { x: '1' } } };
      const watch = await scene.watch(pathIn(scene, 'pods'), {
        resourceVersion: (await read(scene, statefulSets, 'a')).metadata.resourceVersion ?? '',
      });
      await scene.call('PATCH', pathIn(scene, statefulSets, 'a'), { type: 'merge', body: { spec: { template } } });
      await scene.until('all updated', async () => {
        const status = (await read(scene, statefulSets, 'a')).status as Json;
        expect(status).toMatchObject({ updatedReplicas: 2, readyReplicas: 2 });
        expect(status.currentRevision).toBe(status.updateRevision);
        expect(status.updateRevision).not.toBe(before.updateRevision);
      });
      const births = watch.frames.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata.name);
      expect(births).toEqual(['a-1', 'a-0']);
      watch.close();
    },
  },
  {
    story: 'in order, the highest ordinal goes first and is waited for',
    pods: true,
    async play(scene) {
      await made(scene, statefulSets, statefulSet(scene, 'a', { replicas: 3, podManagementPolicy: 'OrderedReady' }));
      await allReady(scene, 3);
      const { resourceVersion = '' } = (await read(scene, statefulSets, 'a')).metadata;
      const watch = await scene.watch(pathIn(scene, 'pods'), { resourceVersion });
      const spec = { replicas: 0 };
      await scene.call('PATCH', pathIn(scene, statefulSets, 'a'), { type: 'merge', body: { spec } });
      await scene.until('no pods', async () => expect(await listed(scene, 'pods')).toEqual([]));
      const ends = (): string[] =>
        watch.frames.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name);
      await scene.until('three ends', () => expect(ends()).toEqual(['a-2', 'a-1', 'a-0']));
      watch.close();
    },
  },
  {
    story: 'the slices of a Service tell its pods and which of them are ready',
    pods: true,
    async play(scene) {
      const service = (name: string, spec: Json): Json => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name },
        spec: { selector: { app: 'a' }, ports: [{ port: 80 }], ...spec },
      });
      await made(scene, 'services', service('a', { clusterIP: 'None', publishNotReadyAddresses: true }));
      await made(scene, 'services', service('front', {}));
      const container = { ...scene.container, readinessProbe: { ...exec('false'), periodSeconds: 1 } };
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, { containers: [container] }));
      const endpoint = (of: string): Promise<Json> =>
        scene.until(`an endpoint of ${of}`, async () => {
          const labelSelector = `kubernetes.io/service-name=${of}`;
          const slices = await listed(scene, 'endpointslices.discovery.k8s.io/v1', { labelSelector });
          const [first] = slices.flatMap((slice) => (slice.endpoints ?? []) as readonly Json[]);
          expect(first).toBeDefined();
          return first ?? {};
        });
      expect(await endpoint('a')).toMatchObject({ hostname: 'a-0', conditions: { ready: true, serving: false } });
      expect(await endpoint('front')).toMatchObject({ conditions: { ready: false, serving: false } });
    },
  },
  {
    story: 'a Service made again under its name gets a slice of its own, and the old one goes',
    pods: true,
    async play(scene) {
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } };
      const spec = { selector: { app: 'a' }, ports: [{ port: 80 }] };
      const slices = (): Promise<readonly KubeObject[]> =>
        listed(scene, 'endpointslices.discovery.k8s.io/v1', { labelSelector: 'kubernetes.io/service-name=a' });
      const readyOf = async ({ metadata }: KubeObject): Promise<void> => {
        const found = await slices();
        expect(found.map((slice) => slice.metadata.ownerReferences?.[0]?.uid)).toEqual([metadata.uid]);
        expect(found[0]).toMatchObject({ endpoints: [{ conditions: { ready: true } }] });
      };
      await made(scene, statefulSets, statefulSet(scene, 'a'));
      const first = await made(scene, 'services', { ...service, spec });
      await scene.until('an endpoint', () => readyOf(first));
      await scene.call('DELETE', pathIn(scene, 'services', 'a'));
      const second = await made(scene, 'services', { ...service, spec });
      await scene.until('an endpoint of the second', () => readyOf(second));
      await scene.pause(2_000);
      await readyOf(second);
    },
  },
];
