/** Somebody has deleted claims, which Kubernetes keeps as long as their pods are there. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { type PlanRow, planned } from '../../support/etcd-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const parked = { spec: { replicas: 0 }, before: {} } as const;
const parking = [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: spec.replicas`), 'wait Parking'];

describe('parking', () => {
  table([
    ['waits where it would take all volumes', { ...parked, claims: { all: 'going' } }, ['blocked VolumesGoing']],
    [
      'waits where it would take most of them',
      { ...parked, claims: { 0: 'going', 2: 'going' } },
      ['blocked VolumesGoing'],
    ],
    ['does not where a majority keeps its own', { ...parked, claims: { 1: 'going' } }, parking],
    [
      'does not for the volume of a member that has left, and whose StatefulSet has yet to go',
      {
        ...parked,
        spec: { replicas: 0, deletionPolicy: 'Delete' },
        numbers: [0, 1],
        members: { 1: 'unlisted' },
        claims: { 1: 'going' },
      },
      [
        'apply ConfigMap db-members: ',
        'apply StatefulSet db-0: spec.replicas',
        'delete StatefulSet db-1',
        'wait Parking',
      ],
    ],
    [
      'waits though nobody has said anything',
      { ...parked, leader: 'nobody', claims: { all: 'going' } },
      ['blocked VolumesGoing'],
    ],
  ]);
});

/** Nobody has the image that the pod is to run. */
const withoutImage = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.map((object) => {
    if (object.kind !== 'Pod') return object;
    const containerStatuses = [{ name: 'etcd', restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } }];
    return { ...object, status: { phase: 'Pending', containerStatuses } };
  });

describe('a restart', () => {
  const one = { spec: { replicas: 1 }, claims: { 0: 'going' } } as const;
  table([
    ['takes no member that stands alone', { ...one, pods: { 0: 'outdated' } }, ['blocked VolumesGoing']],
    [
      'takes none that cannot start either, where it stands alone',
      { ...one, leader: 'nobody', members: { 0: 'silent' }, pods: { 0: 'outdated' }, children: withoutImage },
      ['wait QuorumLost'],
    ],
    [
      'takes one of three, which is replaced then',
      { claims: { all: 'going' }, pods: { all: 'outdated' } },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    ['is none: nobody is stopped, and nothing is waited for', one, ['settled']],
    [
      'comes after others have joined, where more are wanted',
      { ...one, spec: { replicas: 3 }, before: { replicas: 1 }, pods: { 0: 'outdated' } },
      ['add 1', 'wait ScalingOut'],
    ],
  ]);
});

describe('fewer members', () => {
  const fewer = { spec: { replicas: 1 }, before: {} } as const;
  table([
    ['leave nobody alone on a volume that goes', { ...fewer, claims: { 0: 'going' } }, ['blocked VolumesGoing']],
    ['are first those whose volumes go', { ...fewer, claims: { 1: 'going' } }, ['remove 1', 'wait ScalingIn']],
    [
      'come about where three are left, which can be replaced',
      { spec: { replicas: 3 }, before: { replicas: 5 }, claims: { all: 'going' } },
      ['remove 4', 'wait ScalingIn'],
    ],
  ]);
});
