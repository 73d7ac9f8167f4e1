/** Containers that come first and go on: what the others, and the pod, have to do with them. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import {
  type ConformanceCase,
  type Json,
  made,
  read,
  type Scene,
  statefulSet,
  statefulSets,
} from './conformance-case.ts';

interface ContainerState {
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state: Json;
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly initContainerStatuses?: readonly ContainerState[];
  readonly containerStatuses?: readonly ContainerState[];
}

const statusOf = (pod: KubeObject): PodStatus => (pod.status ?? {}) as PodStatus;
const condition = (pod: KubeObject, type: string): string | undefined =>
  statusOf(pod).conditions?.find((one) => one.type === type)?.status;
const sidecar = (scene: Scene, more: Json = {}): Json => ({
  ...scene.container,
  name: 'sidecar',
  restartPolicy: 'Always',
  ...more,
});

async function beside(scene: Scene, more: Json = {}): Promise<void> {
  await made(scene, statefulSets, statefulSet(scene, 'a', {}, { initContainers: [sidecar(scene, more)] }));
}

export const sidecarCases: readonly ConformanceCase[] = [
  {
    story: 'a sidecar goes on, and the others begin when it runs',
    pods: true,
    async play(scene) {
      await beside(scene);
      const pod = await scene.until('it is ready', async () => {
        const found = await read(scene, 'pods', 'a-0');
        expect(condition(found, 'Ready')).toBe('True');
        return found;
      });
      const runs = { ready: true, started: true, restartCount: 0, state: { running: {} } };
      expect(statusOf(pod)).toMatchObject({
        phase: 'Running',
        initContainerStatuses: [runs],
        containerStatuses: [runs],
      });
      expect(condition(pod, 'Initialized')).toBe('True');
    },
  },
  {
    story: 'a pod is not ready while its sidecar is not',
    pods: true,
    async play(scene) {
      await beside(scene, { readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 } });
      const found = await scene.until('the other is ready', async () => {
        const pod = await read(scene, 'pods', 'a-0');
        expect(statusOf(pod).containerStatuses).toMatchObject([{ ready: true }]);
        return pod;
      });
      expect([condition(found, 'Ready'), condition(found, 'Initialized')]).toEqual(['False', 'True']);
      expect(statusOf(found).initContainerStatuses).toMatchObject([{ ready: false, state: { running: {} } }]);
    },
  },
  {
    story: 'the others wait for a sidecar whose image is not there',
    pods: true,
    async play(scene) {
      await beside(scene, { image: 'registry.invalid/absent:1' });
      const pod = await scene.until('it is known', async () => {
        const found = await read(scene, 'pods', 'a-0');
        const reason = expect.stringMatching(/^(ErrImagePull|ImagePullBackOff)$/);
        expect(statusOf(found).initContainerStatuses).toMatchObject([{ state: { waiting: { reason } } }]);
        return found;
      });
      expect(statusOf(pod)).toMatchObject({
        phase: 'Pending',
        containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
      });
    },
  },
];
