/** Outdated pods that may be resized in place, for stories about rollouts. */
import type { KubeObject } from '../../src/api/object.ts';
import type { Pod } from '../../src/resources/children.ts';
import type { Resize } from '../../src/resources/resize.ts';

export const due = (container: string): Resize => ({
  state: 'due',
  mark: 'new now',
  containers: [{ list: 'containers', index: 0, name: container, resources: { limits: { memory: '2Gi' } } }],
  changes: [{ path: `spec.containers[${container}].resources.limits.memory`, from: '1Gi', to: '2Gi' }],
});
export const underway: Resize = { state: 'underway', words: 'its kubelet has yet to do that', recheckMs: 1_000 };
export const done: Resize = { state: 'done', revision: 'new' };
export const refused: Resize = { state: 'refused', words: 'its node cannot do that' };

/** By the pod's name. One that has begun has the mark. */
export const resizing =
  (resizes: Readonly<Record<string, Resize>>) =>
  (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects.map((object): KubeObject => {
      const resize = object.kind === 'Pod' ? resizes[object.metadata.name] : undefined;
      if (resize === undefined) return object;
      const { annotations } = object.metadata;
      const mark = resize.state === 'due' ? {} : { 'clusterwright.dev/resize': 'new 2026-11-28T12:00:00Z' };
      const pod: Pod = {
        ...object,
        metadata: { ...object.metadata, annotations: { ...annotations, ...mark } },
        resize,
      };
      return pod;
    });
