/** Somebody has deleted claims, which Kubernetes keeps as long as their pods are there. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ListedMember } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const parked = { spec: { replicas: 0 }, before: {} } as const;
const parking = [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: spec.replicas`), 'wait Parking'];

const { members: listed } = etcdWorld().observed.agreed ?? { members: [] };
/** Somebody has added it by hand. */
const stranger: ListedMember = {
  id: '9',
  name: 'other',
  hasStarted: true,
  peerUrls: ['http://192.168.0.9:2380'],
  isLearner: false,
};

const withoutRecord = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.filter(({ kind }) => kind !== 'ConfigMap');

/** As `kubectl delete statefulsets --cascade=orphan` leaves them: a new set of the name takes the pods, and stops those beyond its size. */
const orphaned = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.flatMap((object) => {
    if (object.kind === 'StatefulSet') return [];
    if (object.kind !== 'Pod') return [object];
    const { ownerReferences: _, ...metadata } = object.metadata;
    return [{ ...object, metadata }];
  });

describe('parking', () => {
  table([
    ['waits where it would take all volumes', { ...parked, claims: { all: 'going' } }, ['blocked VolumesGoing']],
    [
      'waits where it would take most of them',
      { ...parked, claims: { 0: 'going', 2: 'going' } },
      ['blocked VolumesGoing'],
    ],
    ['waits where they have gone before their pods', { ...parked, claims: { all: 'none' } }, ['blocked VolumesGoing']],
    ['does not where a majority keeps its own', { ...parked, claims: { 1: 'going' } }, parking],
    [
      'does not for members that have no pods',
      { ...parked, members: { all: 'gone' }, claims: { all: 'none' } },
      [...parking.slice(0, 3), 'settled'],
    ],
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
      'waits where the volumes of the others have gone already, with pods that somebody has deleted one at a time',
      {
        ...parked,
        leader: 'nobody',
        members: { 0: 'silent', 1: 'silent', 2: 'leaderless' },
        claims: { 0: 'blank', 1: 'blank', 2: 'going' },
      },
      ['blocked VolumesGoing'],
    ],
    [
      'waits where one of the two others does not answer, and nobody has written to its volume',
      { ...parked, claims: { 0: 'going', 1: 'blank' }, members: { 1: 'silent' } },
      ['blocked VolumesGoing'],
    ],
    [
      'does not where that one answers: what it runs on has yet to be marked',
      { ...parked, claims: { 0: 'going', 1: 'blank' } },
      ['data-db-1-0: etcd-member 3e8/2, etcd-namespace apps', ...parking],
    ],
    [
      'does not count a member that is none of the cluster',
      { ...parked, claims: { 1: 'going' }, agreed: { members: [...listed, stranger] } },
      parking,
    ],
    [
      'waits while the members that keep their volumes are still copying',
      { ...parked, claims: { 0: 'going' }, members: { 1: 'copying', 2: 'copying' } },
      ['blocked VolumesGoing'],
    ],
    [
      'waits for one of three while no majority answers, and might not come back',
      { ...parked, leader: 'nobody', claims: { 1: 'going' } },
      ['blocked VolumesGoing'],
    ],
    [
      'waits while one of two that would lose theirs is being stopped already, for a change of the spec',
      { ...parked, claims: { 0: 'going', 1: 'going' }, pods: { 1: { terminatingForMs: 0 } } },
      ['blocked VolumesGoing'],
    ],
    [
      'waits where the pod of one of two that lose theirs has gone',
      { ...parked, members: { 1: 'gone' }, claims: { 0: 'going', 1: 'going' } },
      ['apply StatefulSet db-1: spec.replicas', 'blocked VolumesGoing'],
    ],
    [
      'waits though somebody has deleted the record of the members as well, and none answers',
      { ...parked, leader: 'nobody', claims: { all: 'going' }, children: withoutRecord },
      ['create ConfigMap db-members', 'blocked VolumesGoing'],
    ],
    [
      'waits where somebody has deleted the StatefulSets as well, and left the pods: a set of no replicas would stop them',
      { ...parked, claims: { all: 'going' }, children: orphaned },
      ['blocked VolumesGoing'],
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
      'takes none whose claim has gone before its pod',
      { ...one, claims: { 0: 'none' }, pods: { 0: 'outdated' } },
      ['blocked VolumesGoing'],
    ],
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

/** None has the memory that it needs, and nobody is left who could give a member the data. */
const outOfMemory = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.map((object) => {
    if (object.kind !== 'Pod') return object;
    const ended = { exitCode: 137, reason: 'OOMKilled' };
    const waiting = { reason: 'CrashLoopBackOff' };
    const containerStatuses = [{ name: 'etcd', restartCount: 9, state: { waiting }, lastState: { terminated: ended } }];
    return { ...object, status: { phase: 'Running', containerStatuses } };
  });

const unmarked = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.map((object) => {
    if (object.kind !== 'PersistentVolumeClaim') return object;
    const { annotations: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  });

const crashingFirst = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.flatMap((object) => (object.metadata.name === 'db-0-0' ? outOfMemory([object]) : [object]));

describe('a restart of members that cannot start, for a template with more memory', () => {
  const stuck = {
    leader: 'nobody',
    members: { all: 'silent' },
    pods: { all: 'outdated' },
    children: outOfMemory,
  } as const;
  table([
    ['takes one after the other', stuck, ['delete Pod db-0-0', 'wait Restarting']],
    ['takes none whose volume goes with it', { ...stuck, claims: { all: 'going' } }, ['wait QuorumLost']],
    [
      'takes none whose volume goes with it while the record of the members is written anew',
      { ...stuck, claims: { all: 'going' }, children: (objects) => outOfMemory(withoutRecord(objects)) },
      ['create ConfigMap db-members', 'wait QuorumLost'],
    ],
    [
      'takes no other one after the first has lost its volume',
      { ...stuck, claims: { 0: 'blank', 1: 'going', 2: 'going' }, pods: { 1: 'outdated', 2: 'outdated' } },
      ['wait QuorumLost'],
    ],
    [
      'takes no single voter while others copy its data',
      {
        ...stuck,
        claims: { 0: 'going' },
        members: { 0: 'silent', 1: 'copying', 2: 'copying' },
        pods: { 0: 'outdated' },
        children: crashingFirst,
      },
      ['wait QuorumLost'],
    ],
    [
      'takes first those whose volumes stay',
      { ...stuck, claims: { 0: 'going', 1: 'going' } },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
    [
      'takes those of a cluster that was never formed, whose volumes nobody has written to',
      {
        ...stuck,
        status: {},
        starts: { all: 'forms' },
        claims: { all: 'going' },
        children: (objects) => outOfMemory(unmarked(objects)),
      },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
    [
      'and not those of one that resumes on the volumes of an earlier one',
      { ...stuck, status: {}, claims: { all: 'going' } },
      ['wait Forming'],
    ],
    [
      'takes one that the others can do without, and replace',
      { members: { 0: 'silent' }, pods: { 0: 'outdated' }, claims: { all: 'going' }, children: crashingFirst },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
  ]);
});

it.each([
  ['asks for more members, and for one pod at a time', {}, /set replicas to three or more.*while all members are well/],
  ['asks for no pod while no majority answers', { leader: 'nobody' }, /persistentVolumeReclaimPolicy: Retain/],
] as const)('%s', (_, more, words) => {
  const { cluster, children, observed } = etcdWorld({ ...parked, claims: { all: 'going' }, ...more });
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  expect(outcome).toMatchObject({ reason: 'VolumesGoing', message: expect.stringMatching(words) });
});

it('is said of members that are not restarted for their volumes', () => {
  const { cluster, children, observed } = etcdWorld({
    leader: 'nobody',
    members: { all: 'silent' },
    claims: { 0: 'going' },
    children: outOfMemory,
  });
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
    message: expect.stringContaining(
      "somebody has deleted the volume(s) data-db-0-0 (or taken the claims' labels), which goes with the pod",
    ),
  });
});

/** As `kubectl scale --replicas=0` does it; the pod has yet to stop. */
const stoppedBy =
  (name: string) =>
  (objects: readonly KubeObject[]): KubeObject[] =>
    objects.map((object) =>
      object.kind === 'StatefulSet' && object.metadata.name === name
        ? { ...object, spec: { ...(object.spec as object), replicas: 0 } }
        : object,
    );

describe('fewer members', () => {
  const fewer = { spec: { replicas: 1 }, before: {} } as const;
  table([
    ['leave nobody alone on a volume that goes', { ...fewer, claims: { 0: 'going' } }, ['blocked VolumesGoing']],
    ['are first those whose volumes go', { ...fewer, claims: { 1: 'going' } }, ['remove 1', 'wait ScalingIn']],
    [
      'are not first those whose StatefulSets somebody has set to no replicas: these volumes go anyway',
      { ...fewer, claims: { 1: 'going' }, children: stoppedBy('db-1') },
      ['apply StatefulSet db-1: spec.replicas', 'remove 2', 'wait ScalingIn'],
    ],
    [
      'come about where three are left, which can be replaced',
      { spec: { replicas: 3 }, before: { replicas: 5 }, claims: { all: 'going' } },
      ['remove 4', 'wait ScalingIn'],
    ],
  ]);
});
