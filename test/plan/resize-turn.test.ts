import { describe, expect, it } from 'vitest';
import { resizeTurn } from '../../src/plan/resize-turn.ts';
import { nextToRestart, outdatedPods, restartSteps } from '../../src/plan/rollout.ts';
import type { Pod, StatefulSet } from '../../src/resources/children.ts';
import type { Resize } from '../../src/resources/resize.ts';

const pod = (resize?: Resize, mark?: string, name = 'db-0'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    labels: { 'controller-revision-hash': 'old' },
    ...(mark === undefined ? {} : { annotations: { 'clusterwright.dev/resize': mark } }),
  },
  ...(resize === undefined ? {} : { resize }),
});

const resources = { limits: { memory: '2Gi' } };
const containers = [{ list: 'containers', index: 0, name: 'db', resources }] as const;
const changes = [{ path: 'spec.containers[db].resources.limits.memory', from: '1Gi', to: '2Gi' }];
const refused: Resize = { state: 'refused', words: 'its node cannot do that' };
const underway: Resize = { state: 'underway', words: 'its kubelet has yet to do that', recheckMs: 5 };

describe('the turn of a pod', () => {
  it('is a mark, and then the change', () => {
    const turn = resizeTurn(pod({ state: 'due', mark: 'new now', containers, changes }));
    expect(turn).toMatchObject({
      steps: [
        {
          type: 'patch',
          ref: { uid: 'uid-db-0' },
          patch: { metadata: { annotations: { 'clusterwright.dev/resize': 'new now' } } },
        },
        { type: 'resize', ref: { uid: 'uid-db-0' }, containers, changes },
      ],
      outcome: { state: 'wait', reason: 'Resizing', message: 'db-0 is resized in place' },
    });
  });

  it.each<readonly [story: string, resize: Resize, types: readonly string[]]>([
    ['is the change alone where it has the mark', { state: 'due', containers, changes }, ['resize']],
    [
      'is the mark alone where it has the resources',
      { state: 'due', mark: 'new now', containers: [], changes: [] },
      ['patch'],
    ],
    ['is waiting for the kubelet', underway, []],
    ['is waiting for an answer', { state: 'unknown', words: 'its former template could not be read' }, []],
  ])('%s', (_, resize, types) => expect(resizeTurn(pod(resize))?.steps.map(({ type }) => type)).toEqual(types));

  it('ends with the label of the template and without the mark, in one write', () => {
    expect(resizeTurn(pod({ state: 'done', revision: 'new' }, 'new then'))?.steps).toMatchObject([
      {
        type: 'patch',
        patch: {
          metadata: {
            labels: { 'controller-revision-hash': 'new' },
            annotations: { 'clusterwright.dev/resize': null },
          },
        },
      },
    ]);
  });

  it('is a restart where it cannot be resized, and the restart says why', () => {
    expect(resizeTurn(pod())).toBeUndefined();
    expect(resizeTurn(pod(refused))).toBeUndefined();
    const [step] = restartSteps(pod(refused));
    expect(step).toMatchObject({
      reason: 'it runs an older template: it is not resized in place, since its node cannot do that',
    });
  });
});

describe('a pod with the mark', () => {
  const set: StatefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', generation: 1 },
    status: { observedGeneration: 1, updateRevision: 'old' },
  };

  it('is outdated, even with the label of the present template', () => {
    expect(outdatedPods(set, [pod(), pod(undefined, 'new then', 'db-1')]).map(({ metadata }) => metadata.name)).toEqual(
      ['db-1'],
    );
  });

  it('has its turn first, leader or not, until it has to restart', () => {
    const others = [pod(undefined, undefined, 'db-2'), pod(undefined, undefined, 'db-1')];
    const next = (leader: Pod): string | undefined =>
      nextToRestart([...others, leader], ({ metadata }) => metadata.name === 'db-0')?.metadata.name;
    expect(next(pod(underway, 'new then'))).toBe('db-0');
    expect(next(pod(refused, 'new then'))).toBe('db-2');
    expect(next(pod(underway))).toBe('db-2');
  });
});
