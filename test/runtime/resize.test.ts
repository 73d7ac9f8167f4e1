import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import type { Step } from '../../src/plan/plan.ts';
import { ApiError, ApiUnreachable } from '../../src/runtime/api-error.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { createExecutor, StepFailed } from '../../src/runtime/executor.ts';
import { type ResizeStep, resizePatch } from '../../src/runtime/resize.ts';
import { podSummary } from '../../src/runtime/transform.ts';

const resources = { limits: { memory: '2Gi' } };
const step: ResizeStep = {
  type: 'resize',
  ref: { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid' },
  containers: [
    { list: 'containers', index: 1, name: 'db', resources },
    { list: 'initContainers', index: 0, name: 'exporter', resources },
  ],
  changes: [],
};
const taken: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', namespace: 'apps', uid: 'uid' } };

async function run(answer: () => Promise<KubeObject>) {
  const asked: unknown[] = [];
  const refusals: string[] = [];
  const seen: KubeObject[] = [];
  const client = {
    jsonPatch: (ref: { readonly name: string }, patch: unknown, { subresource }: { subresource?: string } = {}) => {
      asked.push([ref.name, subresource, patch]);
      return answer();
    },
  } as Partial<KubeClient> as KubeClient;
  const executor = createExecutor({
    client,
    cache: {
      observeWrite: (object) => void seen.push(object),
      observeRead: () => undefined,
      observeDelete: () => undefined,
      entry: () => undefined,
    },
    onResizeRefused: (_, words) => void refusals.push(words),
  });
  const failures = await executor.run([step], async () => undefined, new AbortController().signal);
  return { asked, refusals, seen, failures };
}

const failure = (status: number, message = 'no'): ApiError =>
  new ApiError({ status, reason: 'x', message, method: 'PATCH', path: '/' });

describe('a resize', () => {
  it('is a patch of the subresource, of that very pod and those containers', async () => {
    const { asked, seen } = await run(async () => taken);
    expect(asked).toEqual([
      [
        'db-0',
        'resize',
        [
          { op: 'test', path: '/metadata/uid', value: 'uid' },
          { op: 'test', path: '/spec/containers/1/name', value: 'db' },
          { op: 'add', path: '/spec/containers/1/resources', value: resources },
          { op: 'test', path: '/spec/initContainers/0/name', value: 'exporter' },
          { op: 'add', path: '/spec/initContainers/0/resources', value: resources },
        ],
      ],
    ]);
    expect(asked).toEqual([['db-0', 'resize', resizePatch(step)]]);
    expect(seen).toEqual([taken]);
  });

  it.each<readonly [story: string, error: Error]>([
    ['no such subresource', failure(404)],
    ['no right to it', failure(403, 'pods "db-0" is forbidden: User "x" cannot patch resource "pods/resize"')],
    ['another class of service', failure(422, 'Pod QOS Class may not change')],
    ['a quota', failure(403, 'pods "db-0" is forbidden: exceeded quota: q')],
    ['a webhook with a status of its own', failure(500, 'admission webhook "w" denied the request: no')],
  ])('that is refused is no failure: %s', async (_, error) => {
    const { refusals, failures } = await run(() => Promise.reject(error));
    expect([refusals.length, failures]).toEqual([1, []]);
  });

  it.each<readonly [story: string, error: Error]>([
    ['an error of the server', failure(500)],
    ['too many requests', failure(429)],
    ['a conflict', failure(409)],
    ['a server that has just started', failure(403, 'pods "db-0" is forbidden: not yet ready to handle request')],
    ['no answer', new ApiUnreachable('PATCH', '/', true, new Error('no'))],
  ])('that has no clear answer fails: %s', async (_, error) => {
    await expect(run(() => Promise.reject(error))).rejects.toThrow(StepFailed);
  });
});

describe('what is written on the pod for it', () => {
  const mark = 'new 2026-11-28T12:00:00Z';
  const marking: Step = {
    type: 'patch',
    resizing: true,
    ref: step.ref,
    patch: { metadata: { annotations: { 'clusterwright.dev/resize': mark } } },
    changes: [],
  };
  const ending: Step = {
    ...marking,
    patch: { metadata: { labels: { revision: 'new' }, annotations: { 'clusterwright.dev/resize': null } } },
  };
  const with_ = (notes: object): KubeObject => ({ ...taken, metadata: { ...taken.metadata, ...notes } });
  const marked = with_({ annotations: { 'clusterwright.dev/resize': mark } });

  async function answered(first: Step, answer: () => Promise<KubeObject>) {
    const asked: string[] = [];
    const refusals: unknown[] = [];
    const client = {
      mergePatch: () => answer(),
      jsonPatch: async () => {
        asked.push('resize');
        return taken;
      },
    } as Partial<KubeClient> as KubeClient;
    const cache = { observeWrite: () => undefined, observeRead: () => undefined, observeDelete: () => undefined };
    const executor = createExecutor({
      client,
      cache: { ...cache, entry: () => undefined },
      onResizeRefused: ({ ref, containers }, words) => void refusals.push([ref.uid, containers.length, words]),
    });
    await executor.run([first, step], async () => undefined, new AbortController().signal);
    return { asked, refusals };
  }

  it('comes before it', async () => {
    expect(await answered(marking, async () => marked)).toEqual({ asked: ['resize'], refusals: [] });
    expect(await answered(ending, async () => with_({ labels: { revision: 'new' } }))).toMatchObject({ refusals: [] });
  });

  it.each<readonly [story: string, first: Step, answer: () => Promise<KubeObject>]>([
    ['is refused', marking, () => Promise.reject(failure(403, 'pods "db-0" is forbidden: no'))],
    ['does not stay', marking, async () => taken],
    ['does not go', ending, async () => with_({ labels: { revision: 'new' }, ...marked.metadata })],
    ['is undone', ending, async () => with_({ labels: { revision: 'old' } })],
  ])('keeps the pod from being resized where it %s', async (_, first, answer) => {
    expect(await answered(first, answer)).toEqual({ asked: [], refusals: [['uid', 0, expect.any(String)]] });
  });

  it('fails where there is no clear answer', async () => {
    await expect(answered(marking, () => Promise.reject(failure(500)))).rejects.toThrow(StepFailed);
  });
});

describe('what the cache keeps of a pod', () => {
  const kept = (annotations: Readonly<Record<string, string>>) =>
    podSummary({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db-0', annotations },
      spec: {
        initContainers: [
          { name: 'first', image: 'x', resources },
          { name: 'exporter', image: 'x', restartPolicy: 'Always', resources },
        ],
        containers: [{ name: 'db', image: 'x', resources, resizePolicy: [] }],
      },
      status: { containerStatuses: [{ name: 'db', resources }] },
    }) as { readonly spec?: unknown; readonly status?: { readonly containerStatuses?: unknown } };

  it('has the place of each sidecar among the init containers', () => {
    expect(kept({}).spec).toEqual({
      initContainers: [{ name: 'first' }, { name: 'exporter', restartPolicy: 'Always', resources }],
      containers: [{ name: 'db', resources, resizePolicy: [] }],
    });
  });

  it('has what its kubelet has set while it is resized', () => {
    expect(kept({}).status?.containerStatuses).toEqual([{ name: 'db' }]);
    const marked = kept({ 'clusterwright.dev/resize': 'new 2026-11-28T12:00:00Z' });
    expect(marked.status?.containerStatuses).toEqual([{ name: 'db', resources }]);
  });
});
