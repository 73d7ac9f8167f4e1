import { describe, expect, it } from 'vitest';
import { cannotStart, nextToRestart, outdatedPods, stuckPod } from '../../src/plan/rollout.ts';
import type { Pod, StatefulSet } from '../../src/resources/children.ts';

const pod = (name: string, revision: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { 'controller-revision-hash': revision }, ...more },
});
const set = (status?: StatefulSet['status']): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', generation: 4 },
  ...(status === undefined ? {} : { status }),
});
const settled = set({ observedGeneration: 4, updateRevision: 'new' });
const pods = [pod('db-0', 'old'), pod('db-1', 'new'), pod('db-2', 'old')];

describe('pods with an older template', () => {
  it.each<readonly [story: string, set: StatefulSet | undefined, names: readonly string[]]>([
    ['come with the highest ordinal first', settled, ['db-2', 'db-0']],
    ['are not known without a StatefulSet', undefined, []],
    ['are not known before it has a status', set(), []],
    ['are not known before it has a revision', set({ observedGeneration: 4 }), []],
    ['are not known before the newest template was seen', set({ observedGeneration: 3, updateRevision: 'new' }), []],
  ])('%s', (_, owner, names) => expect(outdatedPods(owner, pods).map(({ metadata }) => metadata.name)).toEqual(names));

  it('so are those that their StatefulSet does not select any more: it makes others in their place', () => {
    const selector = { matchLabels: { a: 'x', b: 'y' } };
    const selecting: StatefulSet = { ...settled, spec: { selector } };
    const labelled = (name: string, labels: Readonly<Record<string, string>>): Pod => {
      const { metadata, ...rest } = pod(name, 'new');
      return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
    };
    const all = [
      labelled('db-0', { a: 'x', b: 'y', c: 'z' }),
      labelled('db-1', { a: 'x', b: 'z' }),
      labelled('db-2', { a: 'x' }),
    ];
    expect(outdatedPods(selecting, all).map(({ metadata }) => metadata.name)).toEqual(['db-2', 'db-1']);
  });

  it('are not those that are going anyway', () => {
    expect(outdatedPods(settled, [pod('db-0', 'old', { deletionTimestamp: 'now' })])).toEqual([]);
  });
});

describe('the next to restart', () => {
  const next = (outdated: readonly Pod[], leader: string): string | undefined =>
    nextToRestart(outdated, ({ metadata }) => metadata.name === leader)?.metadata.name;

  it.each<readonly [story: string, outdated: readonly Pod[], leader: string, next: string | undefined]>([
    ['is the first that does not lead', pods, 'db-0', 'db-1'],
    ['is the leader when it is the last', pods.slice(0, 1), 'db-0', 'db-0'],
    ['is nobody when all are up to date', [], 'db-0', undefined],
  ])('%s', (_, outdated, leader, expected) => expect(next(outdated, leader)).toBe(expected));
});

describe('an outdated pod that may never become ready', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  const [stuck, fine] = [pod('db-1', 'old'), { ...pod('db-0', 'old'), status: ready }];
  const going = pod('db-2', 'new', { deletionTimestamp: 'now' });

  it.each<readonly [story: string, pods: readonly Pod[], mayGo: boolean, expected: string | undefined]>([
    ['is replaced', [fine, stuck], true, 'db-1'],
    ['stays while its process has something to lose', [fine, stuck], false, undefined],
    ['stays while another stops', [fine, stuck, going], true, undefined],
    ['is none that is ready', [fine], true, undefined],
    ['is none with the newest template', [pod('db-0', 'new')], true, undefined],
  ])('%s', (_, all, mayGo, expected) => expect(stuckPod(settled, all, () => mayGo)?.metadata.name).toBe(expected));
});

describe('a pod that has no process, and will have none by itself', () => {
  type Status = Pod['status'];
  const waiting = (reason: string, restartCount = 0): Status => ({
    containerStatuses: [{ name: 'db', restartCount, state: { waiting: { reason } } }],
  });
  const condition = (type: string, status: string): Status => ({ conditions: [{ type, status }] });
  it.each<readonly [story: string, status: Status, cannot: boolean]>([
    ['has no node', condition('PodScheduled', 'False'), true],
    ['has one', condition('PodScheduled', 'True'), false],
    ['is only not ready', condition('Ready', 'False'), false],
    [
      'has no node, which is not the first that is said',
      {
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'PodScheduled', status: 'False' },
        ],
      },
      true,
    ],
    ['is not known yet', undefined, false],
    ['has no image', waiting('ImagePullBackOff'), true],
    ['is being started', waiting('ContainerCreating'), false],
    ['runs', { containerStatuses: [{ name: 'db', restartCount: 9, state: { running: {} } }] }, false],
    ['has ended four times in a row', waiting('CrashLoopBackOff', 4), false],
    ['has ended five times in a row', waiting('CrashLoopBackOff', 5), true],
    [
      'has no image for one of its containers',
      {
        containerStatuses: [
          { name: 'db', restartCount: 0, state: { running: {} } },
          { name: 'metrics', restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } },
        ],
      },
      true,
    ],
    [
      'waits for a sidecar that has no image',
      {
        initContainerStatuses: [{ name: 'exporter', state: { waiting: { reason: 'ErrImagePull' } } }],
        containerStatuses: [{ name: 'db', state: { waiting: { reason: 'PodInitializing' } } }],
      },
      true,
    ],
    [
      'waits for a sidecar that is being started',
      {
        initContainerStatuses: [{ name: 'exporter', state: { waiting: { reason: 'PodInitializing' } } }],
        containerStatuses: [{ name: 'db', state: { waiting: { reason: 'PodInitializing' } } }],
      },
      false,
    ],
    [
      'runs beside a sidecar that ends again and again',
      {
        initContainerStatuses: [
          { name: 'exporter', restartCount: 9, state: { waiting: { reason: 'CrashLoopBackOff' } } },
        ],
        containerStatuses: [{ name: 'db', state: { running: {} } }],
      },
      false,
    ],
  ])('%s', (_, status, cannot) => {
    expect(cannotStart({ ...pod('db-0', 'old'), ...(status === undefined ? {} : { status }) })).toBe(cannot);
  });
});
