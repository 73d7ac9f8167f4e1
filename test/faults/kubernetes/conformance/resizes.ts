/** CPU and memory of running pods: what the subresource takes, what the kubelet does, and the templates that pods had. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import {
  type Answer,
  accepted,
  type ConformanceCase,
  type Json,
  made,
  pathIn,
  read,
  type Scene,
  statefulSet,
  statefulSets,
  verdict,
} from './conformance-case.ts';

const revisions = 'controllerrevisions.apps/v1';
const small: Json = { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } };
const large: Json = { requests: { cpu: '20m', memory: '16Mi' }, limits: { memory: '48Mi', cpu: '500m' } };

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly restartCount?: number;
  readonly containerID?: string;
  readonly resources?: Json;
}
interface Told {
  readonly containerStatuses?: readonly Container[];
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
}
const told = ({ status }: KubeObject): Told => (status ?? {}) as Told;
const containersOf = ({ spec }: KubeObject): readonly Container[] =>
  (spec as { readonly containers: readonly Container[] }).containers;

/** One that no node takes. */
const waiting = (scene: Scene, resources: Json): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: {
    nodeSelector: { 'conformance.clusterwright.dev/none': 'x' },
    containers: [{ ...scene.container, resources }],
  },
});

const resize = (scene: Scene, name: string, resources: unknown, more: readonly Json[] = []): Promise<Answer> =>
  scene.call('PATCH', pathIn(scene, 'pods', name, 'resize'), {
    type: 'json-patch',
    body: [...more, { op: 'add', path: '/spec/containers/0/resources', value: resources }],
  });

async function running(scene: Scene, resources: Json): Promise<KubeObject> {
  const containers = [{ ...scene.container, resources }];
  await made(scene, statefulSets, statefulSet(scene, 'a', {}, { containers }));
  return scene.until('a-0 ready', async () => {
    const pod = await read(scene, 'pods', 'a-0');
    expect(told(pod).conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    return pod;
  });
}

export const resizeCases: readonly ConformanceCase[] = [
  {
    story: 'a resize changes resources and nothing else',
    async play(scene) {
      const before = await made(scene, 'pods', waiting(scene, small));
      const more: readonly Json[] = [
        { op: 'test', path: '/metadata/uid', value: before.metadata.uid },
        { op: 'add', path: '/metadata/labels', value: { x: 'y' } },
        { op: 'add', path: '/spec/containers/0/image', value: 'localhost/other:1' },
      ];
      const after = accepted(await resize(scene, 'a', large, more));
      expect(containersOf(after)[0]).toEqual({ ...containersOf(before)[0], resources: large });
      expect(after.metadata.labels).toBeUndefined();
      expect(after.metadata.generation).toBe((before.metadata.generation ?? 0) + 1);
      // The scheduler says meanwhile that no node takes it.
      const [was, said] = [before, after].map((pod) => ({ ...told(pod), conditions: undefined }));
      expect(said).toEqual(was);
    },
  },
  {
    story: 'what is not asked for is the limit, in a pod and not in a template',
    async play(scene) {
      const limits = { memory: '32Mi' };
      const containers = [{ ...scene.container, resources: { limits } }];
      const set = await made(scene, statefulSets, statefulSet(scene, 'a', {}, { containers }));
      const { template } = set.spec as { readonly template: { readonly spec: Json } };
      expect(template.spec.containers).toMatchObject([{ resources: { limits } }]);
      expect(JSON.stringify(template.spec.containers)).not.toContain('requests');
      const pod = await scene.until('its pod', () => read(scene, 'pods', 'a-0'));
      expect(containersOf(pod)[0]?.resources).toEqual({ limits, requests: limits });
    },
  },
  {
    story: 'a dry run of a resize changes nothing',
    async play(scene) {
      await made(scene, 'pods', waiting(scene, small));
      const body = [{ op: 'add', path: '/spec/containers/0/resources', value: large }];
      const path = pathIn(scene, 'pods', 'a', 'resize');
      const answer = await scene.call('PATCH', path, { type: 'json-patch', body, query: { dryRun: 'All' } });
      expect(containersOf(accepted(answer))[0]?.resources).toEqual(large);
      expect(containersOf(await read(scene, 'pods', 'a'))[0]?.resources).toEqual(small);
    },
  },
  {
    story: 'what a resize may not do',
    async play(scene) {
      await made(scene, 'pods', waiting(scene, small));
      const guaranteed = { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '10m', memory: '32Mi' } };
      const other = '11111111-2222-4333-8444-555555555555';
      const verdicts = [
        await resize(scene, 'a', { requests: small.requests }),
        await resize(scene, 'a', guaranteed),
        await resize(scene, 'a', { ...small, requests: { ...(small.requests as Json), 'ephemeral-storage': '1Mi' } }),
        await resize(scene, 'a', large, [{ op: 'test', path: '/metadata/uid', value: other }]),
        await resize(scene, 'a', large, [{ op: 'replace', path: '/spec/containers/0/name', value: 'b' }]),
      ];
      expect(verdicts.map(verdict)).toEqual(Array(5).fill('422 Invalid'));
      expect(verdict(await resize(scene, 'none', large))).toBe('404 NotFound');
    },
  },
  {
    story: 'a running container gets them, and is not restarted',
    pods: true,
    async play(scene) {
      const before = await running(scene, small);
      expect(told(before).containerStatuses?.[0]?.resources).toEqual(small);
      accepted(await resize(scene, 'a-0', large));
      await scene.until('the kubelet has done it', async () => {
        const pod = await read(scene, 'pods', 'a-0');
        expect(told(pod).containerStatuses?.[0]?.resources).toEqual(large);
        expect(told(pod).conditions?.filter(({ type }) => type.startsWith('PodResize'))).toEqual([]);
        const [now, then] = [pod, before].map((one) => told(one).containerStatuses?.[0]);
        expect([now?.restartCount, now?.containerID]).toEqual([0, then?.containerID]);
      });
    },
  },
  {
    story: 'what its node does not have is said to be infeasible, and the container keeps what it has',
    pods: true,
    async play(scene) {
      await running(scene, small);
      const huge = { requests: { cpu: '10m', memory: '900Ti' }, limits: { memory: '900Ti' } };
      const { metadata } = accepted(await resize(scene, 'a-0', huge));
      await scene.until('it is said', async () => {
        const pod = await read(scene, 'pods', 'a-0');
        expect(told(pod).conditions).toContainEqual(
          expect.objectContaining({
            type: 'PodResizePending',
            status: 'True',
            reason: 'Infeasible',
            observedGeneration: metadata.generation,
          }),
        );
        expect(told(pod).containerStatuses?.[0]?.resources).toEqual(small);
      });
    },
  },
  {
    story: 'the template of each revision is kept, under the name that its pods have as a label',
    async play(scene) {
      const containers = (resources: Json): Json[] => [{ ...scene.container, resources }];
      const revision = async (other?: string): Promise<string> =>
        scene.until('a revision', async () => {
          const { metadata, status } = await read(scene, statefulSets, 'a');
          const { updateRevision, observedGeneration } = status as Json;
          expect(observedGeneration).toBe(metadata.generation);
          expect(updateRevision).not.toBe(other);
          return String(updateRevision);
        });
      const templateOf = async (name: string): Promise<unknown> =>
        ((await read(scene, revisions, name)).data as { readonly spec: { readonly template: unknown } }).spec.template;
      await made(scene, statefulSets, statefulSet(scene, 'a', {}, { containers: containers(small) }));
      const first = await revision();
      const pod = await scene.until('its pod', () => read(scene, 'pods', 'a-0'));
      expect(pod.metadata.labels?.['controller-revision-hash']).toBe(first);
      const template = { spec: { containers: containers(large) } };
      await scene.call('PATCH', pathIn(scene, statefulSets, 'a'), { type: 'merge', body: { spec: { template } } });
      const second = await revision(first);
      const { template: now } = (await read(scene, statefulSets, 'a')).spec as { readonly template: object };
      expect(await templateOf(second)).toMatchObject({ ...now, $patch: 'replace' });
      expect(await templateOf(first)).toMatchObject({ spec: { containers: [{ resources: small }] } });
      const labels = { 'controller-revision-hash': second };
      await scene.call('PATCH', pathIn(scene, 'pods', 'a-0'), { type: 'merge', body: { metadata: { labels } } });
      await scene.until('it counts as updated', async () => {
        expect((await read(scene, statefulSets, 'a')).status).toMatchObject({ updatedReplicas: 1 });
      });
      expect((await read(scene, 'pods', 'a-0')).metadata.uid).toBe(pod.metadata.uid);
    },
  },
];
