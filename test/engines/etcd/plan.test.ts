import { describe, expect, it } from 'vitest';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned } from '../../support/etcd-words.ts';

const nothing = (): [] => [];
const fresh: Story = { numbers: [], leader: 'nobody', status: {}, children: nothing };
const everyChild = [
  'create ConfigMap db-members',
  'create Service db',
  'create Service db-client',
  'create PodDisruptionBudget db',
];
const sets = (...numbers: readonly number[]): string[] => numbers.map((i) => `create StatefulSet db-${i}`);
const onlyClaims: Story['children'] = (objects) => objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('a cluster that is whole', () => {
  table([
    ['needs nothing', {}, ['settled']],
    ['with one member', { spec: { replicas: 1 } }, ['settled']],
    ['with any numbers', { numbers: [1, 4, 7], leader: 4 }, ['settled']],
    ['with kept volumes of removed members', { numbers: [1, 2, 3], claims: { 0: 'retired' } }, ['settled']],
  ]);
});

describe('a new cluster', () => {
  table([
    ['is formed by all members at once', fresh, [...everyChild, ...sets(0, 1, 2), 'wait Forming']],
    ['of no members waits to be wanted', { ...fresh, spec: { replicas: 0 } }, [...everyChild, 'settled']],
    [
      'goes on where it was begun, whatever size is wanted by now',
      {
        ...fresh,
        numbers: [0, 1, 2],
        before: { replicas: 3 },
        spec: { replicas: 5 },
        members: { all: 'unstarted' },
        claims: { all: 'blank' },
        starts: { all: 'forms' },
        children: (objects) =>
          objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name === 'db-0'),
      },
      [...sets(1, 2), 'wait Forming'],
    ],
    [
      'marks the volumes of its members, and only then has them resume on these',
      { claims: { all: 'blank' }, starts: { all: 'forms' }, status: {} },
      ['data-db-0-0: etcd-member 3e8/1', 'data-db-1-0: etcd-member 3e8/2', 'data-db-2-0: etcd-member 3e8/3', 'settled'],
    ],
    [
      'writes that down for all of them together',
      { starts: { all: 'forms' }, status: {} },
      [
        'apply ConfigMap db-members: db-0.state=existing, db-0.cluster=db-0=http://db-0-0.db.apps.svc:2380, db-1.state=existing, db-1.cluster=db-1=http://db-1-0.db.apps.svc:2380, db-2.state=existing, db-2.cluster=db-2=http://db-2-0.db.apps.svc:2380',
        'settled',
      ],
    ],
    [
      'waits for the last one with that',
      { starts: { all: 'forms' }, status: {}, members: { 2: 'expected' } },
      ['wait MembersNotReady'],
    ],
  ]);
});

describe('G8: nothing is formed where anything of a cluster is', () => {
  table([
    [
      'volumes: their members resume',
      { leader: 'nobody', members: { all: 'gone' }, status: {}, children: onlyClaims },
      [...everyChild, ...sets(0, 1, 2), 'wait Forming'],
    ],
    [
      'one volume of three: the others do not come back empty',
      {
        leader: 'nobody',
        members: { all: 'gone' },
        claims: { 0: 'none', 2: 'none' },
        status: {},
        children: onlyClaims,
      },
      [...everyChild, ...sets(1), 'wait Forming'],
    ],
    [
      'nothing but the memory that there was one',
      { ...fresh, status: { initialized: true } },
      [...everyChild, 'blocked DataLost'],
    ],
    [
      'only volumes of removed members, and that memory',
      { ...fresh, numbers: [0], status: { initialized: true }, claims: { 0: 'retired' }, children: onlyClaims },
      [...everyChild, 'blocked DataLost'],
    ],
  ]);

  it('a member that resumes on a volume names no peer', () => {
    const { children } = etcdWorld({});
    expect(children.get('ConfigMap', 'db-members')?.data).toEqual(
      Object.fromEntries(
        [0, 1, 2].flatMap((i) => [
          [`db-${i}.state`, 'existing'],
          [`db-${i}.cluster`, `db-${i}=http://db-${i}-0.db.apps.svc:2380`],
        ]),
      ),
    );
  });
});

describe('more members', () => {
  const out: Story = { spec: { replicas: 5 }, before: { replicas: 3 } };
  table([
    ['come one at a time, without a vote', out, ['add 3', 'wait ScalingOut']],
    [
      'E3: are started when etcd lists them, and told who the others are',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'unstarted' }, starts: { 3: 'unwritten' }, claims: { 3: 'none' } },
      [
        'apply ConfigMap db-members: db-3.state=existing, db-3.cluster=db-0=http://db-0-0.db.apps.svc:2380,db-1=http://db-1-0.db.apps.svc:2380,db-2=http://db-2-0.db.apps.svc:2380,db-3=http://db-3-0.db.apps.svc:2380',
        'create StatefulSet db-3',
        'wait Joining',
      ],
    ],
    [
      'E2: get their vote when they run',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'copying' } },
      ['promote 3', 'wait Joining'],
    ],
    [
      'E2: are waited for while they do not answer, and no other comes',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'unstarted' }, starts: { 3: 'joins' } },
      ['wait Joining'],
    ],
    ['do not come while one is away', { ...out, members: { 1: 'silent' } }, ['wait MembersNotReady']],
    ['do not come while one is not ready', { ...out, pods: { 1: 'unready' } }, ['wait MembersNotReady']],
    [
      'G7: get a number that nobody has had',
      {
        ...out,
        numbers: [0, 1, 2, 3, 4],
        members: { 3: 'unlisted', 4: 'unlisted' },
        claims: { 3: 'retired', 4: 'retired' },
        children: (objects) =>
          objects.filter(
            ({ metadata }) => !/^(data-)?db-[34]/.test(metadata.name) || metadata.name.startsWith('data-'),
          ),
        starts: { 3: 'unwritten', 4: 'unwritten' },
      },
      ['add 5', 'wait ScalingOut'],
    ],
    [
      'that nobody wants any more go before they have a vote',
      { numbers: [0, 1, 2, 3], members: { 3: 'copying' } },
      ['remove 3', 'wait ScalingIn'],
    ],
  ]);
});

describe('fewer members', () => {
  const fewer: Story = { spec: { replicas: 1 }, before: { replicas: 3 } };
  table([
    ['E4: leave the list first, the newest that does not lead', fewer, ['remove 2', 'wait ScalingIn']],
    ['leave with the leader where it is', { ...fewer, leader: 2 }, ['remove 1', 'wait ScalingIn']],
    ['do not leave while one is away', { ...fewer, members: { 1: 'silent' } }, ['wait MembersNotReady']],
    [
      'E4: are stopped when etcd lists them no more, and their volumes are kept apart',
      { spec: { replicas: 1 }, before: { replicas: 3 }, members: { 2: 'unlisted' } },
      [
        'data-db-2-0: retired 3e8/3',
        'apply ConfigMap db-members: ',
        'delete StatefulSet db-2',
        'remove 1',
        'wait ScalingIn',
      ],
    ],
    [
      'go with their volumes where that is the policy',
      { spec: { deletionPolicy: 'Delete' }, numbers: [0, 1, 2, 3], members: { 3: 'unlisted' } },
      [
        'apply ConfigMap db-members: ',
        'delete StatefulSet db-3',
        'delete PersistentVolumeClaim data-db-3-0',
        'settled',
      ],
    ],
  ]);
});

describe('none', () => {
  table([
    [
      'parks all members and keeps everything',
      { spec: { replicas: 0 }, before: {} },
      [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: spec.replicas`), 'wait Parking'],
    ],
  ]);
});

describe('E1: a member that will not come back', () => {
  const five: Story = { spec: { replicas: 5 } };
  table([
    [
      'whose volume is blank is removed',
      { members: { 1: 'silent' }, claims: { 1: 'blank' } },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'whose volume is gone is removed',
      { members: { 1: 'silent' }, claims: { 1: 'none' } },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'G6: whose pod is gone is waited for: a missing pod is no lost member',
      { members: { 1: 'gone' } },
      ['wait MembersNotReady'],
    ],
    ['that is silent is waited for', { members: { 1: 'silent' } }, ['wait MembersNotReady']],
    [
      'that has yet to start for the first time is waited for',
      { members: { 1: 'silent' }, claims: { 1: 'blank' }, starts: { 1: 'forms' } },
      ['wait MembersNotReady'],
    ],
    [
      'is not removed where a second one is away: the others would be no majority',
      { members: { 1: 'silent', 2: 'silent' }, claims: { 1: 'blank' } },
      ['blocked TooFewHealthy'],
    ],
    [
      'is removed where a second one of five is away',
      { ...five, members: { 1: 'silent', 2: 'silent' }, claims: { 1: 'blank' } },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'is replaced after that, by a new one',
      { members: { 1: 'unlisted' }, claims: { 1: 'blank' } },
      [
        'data-db-1-0: retired blank',
        'apply ConfigMap db-members: ',
        'delete StatefulSet db-1',
        'add 3',
        'wait ScalingOut',
      ],
    ],
    [
      'G2: is removed when its node has not answered for a while, and its pod is left alone',
      { members: { 1: 'silent' }, pods: { 1: { terminatingForMs: 61_000 } } },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'is waited for while its pod is being stopped',
      { members: { 1: 'silent' }, pods: { 1: { terminatingForMs: 59_000 } } },
      ['wait MembersNotReady'],
    ],
    [
      'is removed when its volume is on a node that is gone',
      {
        members: { 1: 'silent' },
        pods: { 1: { unschedulableForMs: 181_000, message: '0/2 nodes: 2 had volume node affinity conflict' } },
      },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'is waited for when there is no room for it',
      {
        members: { 1: 'silent' },
        pods: { 1: { unschedulableForMs: 9_000_000, message: '0/2 nodes: 2 Insufficient cpu' } },
      },
      ['wait MembersNotReady'],
    ],
    [
      'is removed when its process ends again and again',
      { members: { 1: 'silent' }, pods: { 1: { crashingForMs: 181_000 } } },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'is waited for when it has not done so for long',
      { members: { 1: 'silent' }, pods: { 1: { crashingForMs: 179_000 } } },
      ['wait MembersNotReady'],
    ],
    [
      'is removed at once when it says that its own volume is blank',
      {
        members: { 1: 'silent' },
        pods: {
          1: {
            crashingForMs: 1000,
            restarts: 1,
            lastWords: '"error":"cannot fetch cluster info from peer urls: could"',
          },
        },
      },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'is waited for when a new one says so: its peers may be away',
      {
        members: { 1: 'silent' },
        pods: { 1: { crashingForMs: 1000, lastWords: 'cannot fetch cluster info from peer urls' } },
        starts: { 1: 'joins' },
      },
      ['wait MembersNotReady'],
    ],
    ...['walpb: crc mismatch', 'panic: failed to open database', '1 found data inconsistency with peers'].map(
      (lastWords): PlanRow => [
        `E10: is removed at once when it says: ${lastWords}`,
        { members: { 1: 'silent' }, pods: { 1: { crashingForMs: 1000, restarts: 1, lastWords } } },
        ['remove 1', 'wait Replacing'],
      ],
    ),
    [
      'is waited for when it says so for the first time',
      { members: { 1: 'silent' }, pods: { 1: { crashingForMs: 1000, restarts: 0, lastWords: 'crc mismatch' } } },
      ['wait MembersNotReady'],
    ],
    [
      'is waited for when all it needs is more memory',
      { members: { 1: 'silent' }, pods: { 1: { crashingForMs: 900_000, reason: 'OOMKilled' } } },
      ['wait MembersNotReady'],
    ],
    [
      'E10: that reports corrupt data is removed, though it answers',
      { alarms: [{ memberId: '2', type: 'CORRUPT' }] },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'E10: two of three that report corrupt data: nobody says which is right',
      {
        alarms: [
          { memberId: '2', type: 'CORRUPT' },
          { memberId: '3', type: 'CORRUPT' },
        ],
      },
      ['blocked TooFewHealthy'],
    ],
  ]);
});

describe('E8: without a majority', () => {
  table([
    ['nothing is changed', { leader: 'nobody', members: { 1: 'silent', 2: 'silent' } }, ['wait QuorumLost']],
    [
      'nothing is changed for a new size either',
      { leader: 'nobody', spec: { replicas: 5 }, before: {} },
      ['wait QuorumLost'],
    ],
    [
      'that has lost its volumes nothing is changed, and somebody has to know',
      { leader: 'nobody', members: { 1: 'silent', 2: 'silent' }, claims: { 1: 'blank', 2: 'none' } },
      ['blocked QuorumLost'],
    ],
    [
      'a StatefulSet that somebody deleted comes back, to resume',
      {
        leader: 'nobody',
        members: { all: 'gone' },
        children: (objects) => objects.filter(({ kind }) => kind !== 'StatefulSet'),
      },
      [...sets(0, 1, 2), 'wait QuorumLost'],
    ],
  ]);
});

describe('another cluster than the one that the volumes are of', () => {
  table([['is left alone', { claims: { 2: 'foreign' } }, ['blocked ForeignCluster']]]);
});

describe('a restart', () => {
  table([
    ['takes one member at a time', { pods: { all: 'outdated' } }, ['delete Pod db-1-0', 'wait Restarting']],
    ['goes on with the next', { pods: { 0: 'outdated', 2: 'outdated' } }, ['delete Pod db-2-0', 'wait Restarting']],
    [
      'takes the leader last, after it has handed over',
      { pods: { 0: 'outdated' } },
      ['lead db-0-0 -> 1', 'wait MovingLeader'],
    ],
    [
      'takes a leader that stands alone',
      { spec: { replicas: 1 }, pods: { 0: 'outdated' } },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
    [
      'waits while a member is away',
      { pods: { 0: 'outdated', 1: 'outdated' }, members: { 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'waits for a third member where two would be one too few',
      { numbers: [0, 1], before: {}, pods: { 1: 'outdated' } },
      ['add 2', 'wait ScalingOut'],
    ],
  ]);
});

describe('a template that was wrong and has been corrected', () => {
  const stuck = (i: number): Story => ({ members: { [i]: 'silent' }, pods: { [i]: { crashingForMs: 5_000 } } });
  const outdated: Story['children'] = (objects) =>
    objects.map((object) =>
      object.kind === 'Pod'
        ? {
            ...object,
            metadata: { ...object.metadata, labels: { ...object.metadata.labels, 'controller-revision-hash': 'old' } },
          }
        : object,
    );
  table([
    [
      'is tried by the pod that did not start on the old one',
      { ...stuck(1), children: outdated },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    ['is left to the pod itself where it runs the new one', stuck(1), ['wait MembersNotReady']],
    [
      'needs no majority: nobody is interrupted',
      {
        ...stuck(2),
        leader: 'nobody',
        status: {},
        starts: { all: 'forms' },
        claims: { all: 'blank' },
        children: outdated,
      },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
    [
      'is tried by a member without a vote, too',
      {
        spec: { replicas: 5 },
        before: { replicas: 3 },
        numbers: [0, 1, 2, 3],
        members: { 3: 'unstarted' },
        pods: { 3: { crashingForMs: 5_000 } },
        starts: { 3: 'joins' },
        children: outdated,
      },
      ['delete Pod db-3-0', 'wait Restarting'],
    ],
  ]);
});

describe('E6: a version', () => {
  const runs = (version: string): Story => ({ members: { all: { version } } });
  table([
    [
      'one minor ahead is rolled out',
      { ...runs('3.5.35'), pods: { 1: 'outdated' } },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'one minor ahead of a patch that is not fit for it is not',
      { ...runs('3.5.31'), pods: { 1: 'outdated' } },
      ['blocked UpgradePrerequisite'],
    ],
    ['E7: behind what runs is not', { ...runs('3.7.0'), pods: { 1: 'outdated' } }, ['blocked DowngradeRefused']],
    ['two minors ahead is not', { ...runs('3.4.30'), pods: { 1: 'outdated' } }, ['blocked UpgradeSkipsMinor']],
    [
      'that is refused is not even written into the templates',
      { spec: { version: '3.6.16' }, before: { version: '3.5.20' } },
      expect.not.arrayContaining([expect.stringContaining('apply StatefulSet')]) as unknown as string[],
    ],
  ]);
});

describe('volumes', () => {
  table([
    [
      'grow with the spec, each by its own claim',
      {
        spec: { storage: { size: '2Gi' }, config: { quotaBackend: '600Mi' } },
        before: { config: { quotaBackend: '600Mi' } },
      },
      [...[0, 1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 2Gi`), 'settled'],
    ],
    [
      'of removed members do not',
      {
        spec: { storage: { size: '2Gi' }, config: { quotaBackend: '600Mi' } },
        before: { config: { quotaBackend: '600Mi' } },
        claims: { 0: 'retired' },
      },
      [...[1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 2Gi`), 'settled'],
    ],
  ]);
});
