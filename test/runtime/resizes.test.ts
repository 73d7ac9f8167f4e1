import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { childrenOf } from '../../src/resources/children.ts';
import type { ContainerList, Requirements } from '../../src/resources/resize.ts';
import { ApiError, ApiUnreachable } from '../../src/runtime/api-error.ts';
import { createResizes } from '../../src/runtime/resizes.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const labels = { app: 'db' };
const resources = (memory: string): Requirements => ({ limits: { memory } });
const template = (memory: string): object => ({
  metadata: { labels },
  spec: { containers: [{ name: 'db', image: 'db:1', resources: resources(memory) }] },
});
const set: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'apps', generation: 2 },
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template('2Gi') },
  status: { observedGeneration: 2, updateRevision: 'db-new' },
};
const pod = (ordinal: number, revision: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `db-${ordinal}`,
    namespace: 'apps',
    uid: `uid-${ordinal}`,
    labels: { ...labels, 'controller-revision-hash': revision },
  },
  spec: { containers: [{ name: 'db', resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } }] },
  status: { phase: 'Running' },
});
const revision = (name: string, data: unknown): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name, namespace: 'apps' },
  data,
});
const old = revision('db-old', { spec: { template: { ...template('1Gi'), $patch: 'replace' } } });

const failure = (status: number): ApiError =>
  new ApiError({ status, reason: 'x', message: 'no', method: 'GET', path: '/' });

function rig(answer: (signal?: AbortSignal) => Promise<KubeObject>) {
  const clock = new VirtualClock();
  const read: string[] = [];
  const resizes = createResizes({
    client: {
      get({ resource, namespace, name }, { signal } = {}) {
        read.push(`${resource.plural} ${namespace}/${name}`);
        return answer(signal);
      },
    },
    clock,
    now: () => clock.now(),
  });
  const states = async (objects: readonly KubeObject[] = [set, pod(0, 'db-old')]): Promise<readonly unknown[]> => {
    const { pods } = await resizes.tell(childrenOf(objects), {});
    return pods.map(({ resize }) => resize?.state);
  };
  return { clock, read, resizes, states };
}

it('a pod of an older template is told from one of the present one by their revisions', async () => {
  const { states, read } = rig(async () => old);
  expect(await states([set, pod(0, 'db-old'), pod(1, 'db-new')])).toEqual(['due', undefined]);
  expect(read).toEqual(['controllerrevisions apps/db-old']);
});

it('nothing is read where all pods are of the present template, or nobody knows', async () => {
  const { states, read } = rig(async () => old);
  const { status: _, ...young } = set;
  expect(await states([set, pod(0, 'db-new')])).toEqual([undefined]);
  expect(await states([young as KubeObject, pod(0, 'db-old')])).toEqual([undefined]);
  expect(read).toEqual([]);
});

it('a template is read once for all pods that have it, and never again', async () => {
  const { clock, states, read } = rig(async () => old);
  await states([set, pod(0, 'db-old'), pod(1, 'db-old')]);
  await clock.advance(500_000);
  await states();
  await clock.advance(500_000);
  expect(await states()).toEqual(['due']);
  expect(read).toHaveLength(1);
});

it.each<readonly [story: string, answer: () => Promise<KubeObject>, state: string]>([
  ['is gone', () => Promise.reject(failure(404)), 'refused'],
  ['may not be read', () => Promise.reject(failure(403)), 'refused'],
  ['is none', async () => revision('db-old', 'text'), 'refused'],
  [
    'is none, with other content',
    async () => revision('db-old', { spec: { template: { spec: { containers: 'x' } } } }),
    'refused',
  ],
  ['cannot be read now', () => Promise.reject(failure(500)), 'unknown'],
  ['cannot be reached', () => Promise.reject(new ApiUnreachable('GET', '/', false, new Error('no'))), 'unknown'],
])('a former template that %s is asked for again after ten seconds', async (_, answer, state) => {
  const { clock, states, read } = rig(answer);
  expect(await states()).toEqual([state]);
  await clock.advance(9_999);
  await states();
  expect(read).toHaveLength(1);
  await clock.advance(1);
  await states();
  expect(read).toHaveLength(2);
});

it('a template that does not come holds nothing up', async () => {
  const { clock, states } = rig(
    (signal) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  );
  const told = states();
  await turn();
  await clock.advance(2_000);
  expect(await told).toEqual(['unknown']);
});

it('a pod restarts if the API server refuses the annotation of a resize, whatever the resize is', async () => {
  const { clock, states, resizes } = rig(async () => old);
  const ref = {
    resource: { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
    name: 'db-0',
    uid: 'uid-0',
  };
  resizes.refused({ ref, containers: [] }, 'no');
  expect(await states([set, pod(0, 'db-old'), pod(1, 'db-old')])).toEqual(['refused', 'due']);
  await clock.advance(40_000);
  expect(await states()).toEqual(['due']);
});

it('a refusal counts for that pod and that change, for forty seconds: then it is tried again', async () => {
  const { clock, states, resizes } = rig(async () => old);
  const { pods } = await resizes.tell(childrenOf([set, pod(0, 'db-old')]), {});
  const [resize] = pods.flatMap((one) => one.resize ?? []);
  if (resize?.state !== 'due') throw new Error('it is not due');
  const ref = {
    resource: { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
    name: 'db-0',
    uid: 'uid-0',
  };
  resizes.refused({ ref, containers: resize.containers }, 'no');
  expect(await states([set, pod(0, 'db-old'), pod(1, 'db-old')])).toEqual(['refused', 'due']);
  const list: ContainerList = 'containers';
  resizes.refused({ ref: { ...ref, uid: 'uid-1' }, containers: [{ list, index: 0, name: 'db', resources: {} }] }, 'no');
  expect(await states([set, pod(1, 'db-old')])).toEqual(['due']);
  await clock.advance(40_000);
  expect(await states()).toEqual(['due']);
});
