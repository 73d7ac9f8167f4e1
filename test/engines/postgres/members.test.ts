import { describe, expect, it } from 'vitest';
import { now, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const role = 'apply Role db-postgres: rules[2].resourceNames';
/** Their pods are named in the Role after their StatefulSets have been made. */
const added = (...numbers: readonly number[]): readonly string[] => [
  `apply ConfigMap db-members: ${numbers.map((number) => `db-${number}.start=join`).join(', ')}`,
];
/** A comparison names no key that goes. */
const removed = ['apply ConfigMap db-members: ', role];
const without =
  (...names: readonly string[]): NonNullable<Story['children']> =>
  (objects) =>
    objects.filter(({ kind, metadata }) => !names.includes(`${kind} ${metadata.name}`));

const unready = (seconds: number): NonNullable<Story['status']> => {
  const lastTransitionTime = new Date(now - seconds * 1000).toISOString();
  return {
    initialized: true,
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        observedGeneration: 1,
        reason: 'Scaling',
        message: 'db-4-0 is leaving',
        lastTransitionTime,
      },
    ],
  };
};

describe('members that are added', () => {
  table([
    [
      'come all at once, and join',
      { spec: { instances: 5 }, before: {} },
      [...added(3, 4), 'create StatefulSet db-3', 'create StatefulSet db-4', role, 'wait Scaling'],
    ],
    [
      'get numbers that nobody has had',
      {
        spec: {},
        before: { instances: 2 },
        claims: { 2: 'retired', 3: 'retired' },
        numbers: [0, 1, 2, 3],
        rostered: [0, 1],
        members: { 2: 'gone', 3: 'gone' },
        children: without('StatefulSet db-2', 'StatefulSet db-3'),
      },
      [...added(4), 'create StatefulSet db-4', role, 'wait Scaling'],
    ],
  ]);
});

describe('members that leave', () => {
  const vanishing = {
    spec: { instances: 3, deletionPolicy: 'Delete' },
    before: { instances: 4, deletionPolicy: 'Delete' },
    rostered: [0, 1, 2],
    members: { 3: 'gone' },
    children: without('StatefulSet db-3'),
  } as const satisfies Story;
  const fewer = { spec: { instances: 3 }, before: { instances: 5 } } as const satisfies Story;
  table([
    ['go one at a time, the highest number first', fewer, [...removed, 'delete StatefulSet db-4', 'wait Scaling']],
    ['are never the primary', { ...fewer, primary: 4 }, [...removed, 'delete StatefulSet db-3', 'wait Scaling']],
    [
      'go where somebody has changed the labels of their StatefulSet',
      { ...fewer, rostered: [0, 1, 2, 3], children: without('StatefulSet db-4'), status: unready(10) },
      ['delete StatefulSet db-4', 'wait Scaling'],
    ],
    [
      'are waited for where their StatefulSet has just been deleted',
      { ...fewer, rostered: [0, 1, 2, 3], children: without('StatefulSet db-4'), status: unready(9) },
      ['wait Scaling'],
    ],
    [
      'are not the pods of somebody else, who has given them the labels',
      {
        ...fewer,
        rostered: [0, 1, 2, 3],
        children: without('StatefulSet db-4'),
        claims: { 4: 'none' },
        status: unready(60),
      },
      ['wait Scaling'],
    ],
    [
      'wait for the StatefulSet of the one before',
      { ...fewer, rostered: [0, 1, 2, 3] },
      ['delete StatefulSet db-4', 'wait Scaling'],
    ],
    [
      'wait for the pod of the one before, which still stops',
      { ...fewer, rostered: [0, 1, 2, 3], pods: { 4: 'stopping' }, children: without('StatefulSet db-4') },
      ['wait Scaling'],
    ],
    [
      'wait until commits wait for a member that stays',
      {
        ...fewer,
        rostered: [0, 1, 2, 3],
        members: { 1: { isSynchronous: false }, 2: { isSynchronous: false }, 3: { isSynchronous: false }, 4: 'gone' },
        children: without('StatefulSet db-4'),
      },
      ['data-db-4-0: retired true', 'wait MembersNotReady'],
    ],
    [
      'do not count as those that commits wait for',
      {
        ...fewer,
        rostered: [0, 1, 2, 3],
        members: { 1: { isSynchronous: false }, 2: { isSynchronous: false }, 3: { isSynchronous: false } },
        pods: { 4: 'stopping' },
        children: without('StatefulSet db-4'),
      },
      ['wait MembersNotReady'],
    ],
    [
      'go when the one before has gone, whose volume is retired',
      { ...fewer, rostered: [0, 1, 2, 3], members: { 4: 'gone' }, children: without('StatefulSet db-4') },
      ['data-db-4-0: retired true', ...removed, 'delete StatefulSet db-3', 'wait Scaling'],
    ],
    [
      'lose their volume only once they have gone, where that is the policy',
      vanishing,
      ['delete PersistentVolumeClaim data-db-3-0', 'settled'],
    ],
    [
      'keep their volume while nobody is primary: it may hold the last commit',
      { ...vanishing, primary: 'nobody' },
      ['wait NoPrimary'],
    ],
    [
      'keep their volume as long as an election would ask them',
      { ...vanishing, sync: { leader: 'db-0-0', sync_standby: 'db-1-0,db-3-0', quorum: '1' } },
      ['settled'],
    ],
    [
      'stay where they have been elected since it was written down',
      { ...fewer, rostered: [0, 1, 2, 3], primary: 4 },
      ['apply ConfigMap db-members: db-4.start=resume', role, 'wait Scaling'],
    ],
    [
      'hold up a restart until they have gone',
      {
        spec: {},
        before: { instances: 4 },
        rostered: [0, 1, 2],
        pods: { 1: 'outdated', 3: 'stopping' },
        children: without('StatefulSet db-3'),
      },
      ['wait Scaling'],
    ],
  ]);

  it('wait until Patroni knows that the member that is left waits for nobody', () => {
    const strict = { strict: true };
    const story: Story = {
      spec: { instances: 1, synchronous: strict },
      before: { instances: 2, synchronous: strict },
    };
    // How members copy data is another matter.
    expect(planned(story).filter((line) => !line.startsWith('apply ConfigMap db-patroni'))).toEqual([
      'configure synchronous_mode_strict=false primary_start_timeout=300',
      'wait Updating',
    ]);
  });
});

describe('a roster that somebody has deleted', () => {
  const lost = without('ConfigMap db-members');
  table([
    [
      'is written again from those that there are: nobody leaves',
      { numbers: [3, 4, 5], children: lost },
      ['create ConfigMap db-members', 'wait Scaling'],
    ],
    [
      'is written again from the volumes of a cluster that was deleted',
      {
        numbers: [3, 4, 5],
        primary: 'nobody',
        status: {},
        members: { all: 'gone' },
        children: without('ConfigMap db-members', ...[3, 4, 5].map((i) => `StatefulSet db-${i}`)),
      },
      ['create ConfigMap db-members', ...[3, 4, 5].map((i) => `create StatefulSet db-${i}`), 'wait NoPrimary'],
    ],
    [
      'begins nothing beside volumes that are all retired: nobody would ever have data',
      {
        numbers: [0, 1, 2],
        primary: 'nobody',
        claims: { all: 'retired' },
        members: { all: 'gone' },
        children: without('ConfigMap db-members', ...[0, 1, 2].map((i) => `StatefulSet db-${i}`)),
      },
      ['blocked DataLost'],
    ],
    [
      'gives nobody the number of a retired volume',
      {
        numbers: [0, 1, 2],
        primary: 'nobody',
        status: {},
        missing: ['config', 'leader', 'failover', 'sync'],
        claims: { all: 'retired' },
        members: { all: 'gone' },
        children: without('ConfigMap db-members', ...[0, 1, 2].map((i) => `StatefulSet db-${i}`)),
      },
      [
        ...['config', 'leader', 'failover', 'sync'].map((name) => `create ConfigMap db-${name}`),
        'create ConfigMap db-members',
        ...[3, 4, 5].map((i) => `create StatefulSet db-${i}`),
        'apply Role db-postgres: rules[2].resourceNames[0], rules[2].resourceNames[1], rules[2].resourceNames[2]',
        'wait Forming',
      ],
    ],
  ]);
});

describe('parking', () => {
  const parked = { spec: { instances: 0 }, before: {} } as const satisfies Story;
  const stopped = [0, 1, 2].map((i) => `apply StatefulSet db-${i}: spec.replicas`);
  table([
    ['stops every member and keeps who they are', parked, [...stopped, 'wait Parking']],
    ['needs no primary', { ...parked, primary: 'nobody' }, [...stopped, 'wait Parking']],
    [
      'is over when nobody runs',
      { spec: { instances: 0 }, numbers: [0, 1, 2], primary: 'nobody', members: { all: 'gone' } },
      ['settled'],
    ],
    [
      'ends with the members that there were, and nobody forms',
      { before: { instances: 0 }, numbers: [0, 1, 2], primary: 'nobody', members: { all: 'gone' } },
      [...stopped, 'wait NoPrimary'],
    ],
    [
      'does not stop whoever’s volume would go with the primary',
      { ...parked, claims: { 0: 'going' } },
      ['blocked VolumesGoing'],
    ],
  ]);
});

describe('a volume that somebody has deleted', () => {
  table([
    [
      'goes with a standby, which copies again',
      { claims: { 1: 'going' }, pods: { 1: 'outdated' } },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'keeps its pod where that is a primary that stands alone',
      { spec: { instances: 1 }, claims: { 0: 'going' }, pods: { 0: 'outdated' } },
      ['blocked VolumesGoing'],
    ],
    [
      'keeps its pod while nobody is primary',
      { primary: 'nobody', claims: { 1: 'going' }, members: { 1: 'silent' }, pods: { 1: 'outdated and crashing' } },
      ['blocked VolumesGoing'],
    ],
  ]);
});

describe('a volume', () => {
  table([
    [
      'is marked when its member tells of the database',
      { claims: { 2: 'blank' } },
      ['data-db-2-0: postgres-system 7001', 'data-db-2-0: postgres-version 17', 'settled'],
    ],
    [
      'is not marked before',
      { claims: { 2: 'blank' }, starts: { 2: 'join' }, members: { 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'grows first, and is waited for',
      { spec: { storage: { size: '20Gi' } }, before: {} },
      [
        ...[0, 1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 20Gi`),
        'configure postgresql.parameters.max_wal_size=2048MB postgresql.parameters.max_slot_wal_keep_size=4096MB',
        'wait Updating',
      ],
    ],
  ]);
});
