import { describe, expect, it } from 'vitest';
import { versionLabel } from '../../../src/engines/etcd/kind/versions.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import type { Plight, Story } from '../../support/etcd-situation.ts';
import { etcdWorld, now } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const sets = (...numbers: readonly number[]): string[] => numbers.map((i) => `create StatefulSet db-${i}`);
/** The list of three members, all of which have run, while only two answer. */
const startedOnce = { ...etcdWorld({ members: { 1: 'silent' } }).observed };

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

/** As etcd 3.5.35 and 3.6.16 write of a put that took long: 3.5 gives the request, and both the key. */
const slowPut = (key: string): string =>
  JSON.stringify({
    level: 'warn',
    ts: '2026-11-23T03:53:38.901478Z',
    caller: 'etcdserver/util.go:183',
    msg: 'apply request took too long',
    took: '176.116161ms',
    'expected-duration': '100ms',
    prefix: '',
    request: `header:<ID:11102958605314918941 > put:<key:${JSON.stringify(key)} value_size:1200000 >`,
    response: 'size:4',
  });
const trace = (key: string): string =>
  JSON.stringify({
    level: 'info',
    ts: '2026-11-23T03:53:25.466048Z',
    caller: 'traceutil/trace.go:172',
    msg: 'trace[1265001460] put',
    detail: `{key:${key}; req_size:1200011; response_revision:24; }`,
    duration: '111.151116ms',
  });
const outOfRange = 'tocommit(216) is out of range [lastIndex(5)]. Was the raft log corrupted, truncated, or lost?';

const killedAt = (log: string): Plight => ({ crashingForMs: 1000, restarts: 1, reason: 'OOMKilled', log });

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
      'that has just joined and whose claim is not seen yet is waited for',
      { members: { 1: 'silent' }, claims: { 1: 'none' }, starts: { 1: 'joins' } },
      ['wait MembersNotReady'],
    ],
    [
      'is not removed where a second one knows no leader',
      { members: { 1: 'silent', 2: 'leaderless' }, claims: { 1: 'blank' } },
      ['blocked TooFewHealthy'],
    ],
    [
      'of which nothing is left is not started again before it is removed',
      {
        members: { 1: { isLearner: false } },
        starts: { 1: 'unwritten' },
        claims: { 1: 'none' },
        children: (objects) => objects.filter(({ metadata }) => metadata.name !== 'db-1'),
        observed: startedOnce,
      },
      ['remove 1', 'wait Replacing'],
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
            lastWords: 'cannot fetch cluster info from peer urls: could not retrieve cluster information',
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
    ...[
      '{"level":"fatal","msg":"discovery failed","error":"walpb: crc mismatch"}',
      '{"level":"fatal","msg":"failed to read WAL, cannot be repaired","error":"unexpected block type 9"}',
      '{"level":"fatal","msg":"discovery failed","error":"proto: illegal wireType 7"}',
      '{"level":"panic","msg":"failed to open database","error":"invalid database"}',
      `{"level":"panic","msg":"${outOfRange}","stacktrace":"go.etcd.io/raft/v3.(*raftLog).commitTo"}`,
      `ft/v3@v3.6.0/node.go:399"}\npanic: ${outOfRange}\n\ngoroutine 53 [running]:\nmain.main()`,
      '\tserver/zap_raft.go:102 +0x45\ngo.etcd.io/raft/v3.(*raftLog).commitTo(0x1133defa19a0, 0xd8)\n\tlog.go:324 +0xef',
      '\tserver/zap_raft.go:101 +0x45\ngo.etcd.io/etcd/raft/v3.(*raftLog).commitTo(...)\n\traft/log.go:237 +0xef',
      'state/db","error":"invalid database"}\npanic: failed to open database\n\ngoroutine 129 [running]:\nmain.main()',
    ].map(
      (log): PlanRow => [
        `E10: is removed at once, and its volume kept, when it says: ${log}`,
        { members: { 1: 'silent' }, pods: { 1: { crashingForMs: 1000, restarts: 1, log } } },
        ['data-db-1-0: etcd-corrupt 3e8/2', 'remove 1', 'wait Replacing'],
      ],
    ),
    [
      'is waited for while it is silent, if only an earlier process of its said that it cannot read its data',
      {
        members: { 1: 'silent' },
        pods: { 1: { crashingForMs: 1000, restarts: 1, lastWords: 'crc mismatch', isRunning: true } },
      },
      ['wait MembersNotReady'],
    ],
    ...[
      'crc mismatch',
      'cannot fetch cluster info from peer urls',
      'found data inconsistency with peers',
      outOfRange,
      '{"level":"fatal","msg":"discovery failed","error":"walpb: crc mismatch"}',
    ].flatMap((key): PlanRow[] =>
      [killedAt(slowPut(key)), killedAt(slowPut(key).slice(150)), killedAt(trace(key))].map((pod) => [
        `is waited for when the end of its log tells of a client's key, and its process was killed: ${key}`,
        { members: { 1: 'silent' }, pods: { 1: pod } },
        ['wait MembersNotReady'],
      ]),
    ),
    [
      'is waited for when its process was killed, and the one before that could not read its data',
      {
        members: { 1: 'silent' },
        pods: { 1: { crashingForMs: 1000, restarts: 1, lastWords: 'crc mismatch', since: '' } },
      },
      ['wait MembersNotReady'],
    ],
    [
      'is waited for when it says that its volume is still in use',
      {
        members: { 1: 'silent' },
        pods: {
          1: {
            crashingForMs: 1000,
            restarts: 1,
            log: '{"level":"fatal","msg":"failed to open WAL","error":"file locked"}',
          },
        },
      },
      ['wait MembersNotReady'],
    ],
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
  ]);
});

const affinity = '0/2 nodes: 2 had volume node affinity conflict';
const silent = { members: { 1: 'silent' } } as const;
const labelled =
  (version: string): NonNullable<Story['children']> =>
  (all) =>
    all.map((object) =>
      object.metadata.name === 'db-1-0'
        ? {
            ...object,
            metadata: { ...object.metadata, labels: { ...object.metadata.labels, [versionLabel]: version } },
          }
        : object,
    );

describe('E1: a member is waited for', () => {
  table(
    [
      ['up to a minute after the grace of its pod', { ...silent, pods: { 1: { terminatingForMs: 60_000 } } }],
      [
        'up to three minutes while its volume is out of reach',
        { ...silent, pods: { 1: { unschedulableForMs: 180_000, message: affinity } } },
      ],
      ['up to three minutes while its process ends', { ...silent, pods: { 1: { crashingForMs: 180_000 } } }],
      [
        'when its process has ended four times only',
        { ...silent, pods: { 1: { crashingForMs: 900_000, restarts: 4 } } },
      ],
      ['when its process runs', { ...silent, pods: { 1: { crashingForMs: 900_000, isRunning: true } } }],
      [
        'when nobody runs its template well: settings may be why it ends',
        { ...silent, pods: { 1: { crashingForMs: 900_000 } }, children: labelled('9.9') },
      ],
    ].map(([story, situation]): PlanRow => [story as string, situation as Story, ['wait MembersNotReady']]),
  );
});

it.each<readonly [why: string, situation: Story]>([
  ['its volume is gone', { claims: { 1: 'none' } }],
  ['its volume is another one', { claims: { 1: 'blank' } }],
  ['it cannot read its data', { pods: { 1: { crashingForMs: 1000, restarts: 1, lastWords: 'walpb: crc mismatch' } } }],
  [
    'its log has lost entries that it has acknowledged',
    { pods: { 1: { crashingForMs: 1000, restarts: 1, lastWords: outOfRange } } },
  ],
  [
    'its volume is blank',
    { pods: { 1: { crashingForMs: 1000, restarts: 1, lastWords: 'cannot fetch cluster info from peer urls' } } },
  ],
  ['its node does not answer', { pods: { 1: { terminatingForMs: 60_001 } } }],
  ['the node of its volume is gone', { pods: { 1: { unschedulableForMs: 180_001, message: affinity } } }],
  ['its process ends again and again', { pods: { 1: { crashingForMs: 180_001, restarts: 5 } } }],
])('E1: a person is told that %s', (why, story) => {
  const { cluster, children, observed } = etcdWorld({ ...silent, ...story });
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
    message: `db-1-0 is replaced: ${why}`,
  });
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

describe('E1: a member that has never started', () => {
  const starting = (ms: number, more: object = {}): NonNullable<Story['children']> => {
    const at = new Date(now - ms).toISOString();
    const waiting = { name: 'etcd', restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } }, ...more };
    return (objects) =>
      objects.map((object) =>
        object.metadata.name === 'db-3-0'
          ? {
              ...object,
              status: {
                phase: 'Pending',
                conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: at }],
                containerStatuses: [waiting],
              },
            }
          : object,
      );
  };
  const newcomer: Story = {
    spec: { replicas: 5 },
    before: { replicas: 3 },
    numbers: [0, 1, 2, 3],
    members: { 3: 'unstarted' },
    starts: { 3: 'joins' },
    claims: { 3: 'blank' },
  };
  table([
    [
      'is removed when its node has not answered for a while',
      { ...newcomer, pods: { 3: { terminatingForMs: 61_000 } } },
      ['remove 3', 'wait Replacing'],
    ],
    [
      'is removed when its volume is on a node that is gone',
      { ...newcomer, pods: { 3: { unschedulableForMs: 181_000, message: affinity } } },
      ['remove 3', 'wait Replacing'],
    ],
    [
      'is removed when its process ends again and again while others run',
      { ...newcomer, pods: { 3: { crashingForMs: 181_000 } } },
      ['remove 3', 'wait Replacing'],
    ],
    [
      'is waited for when its process ends again and again by a template that nobody else runs yet: the next one would, too',
      { ...newcomer, pods: { 0: 'outdated', 1: 'outdated', 2: 'outdated', 3: { crashingForMs: 181_000 } } },
      ['wait Joining'],
    ],
    [
      'is removed when its process ends again and again while one other runs by that template',
      { ...newcomer, pods: { 1: 'outdated', 2: 'outdated', 3: { crashingForMs: 181_000 } } },
      ['remove 3', 'wait Replacing'],
    ],
    [
      'is removed when its container has not started for ten minutes',
      { ...newcomer, children: starting(601_000) },
      ['remove 3', 'wait Replacing'],
    ],
    ['is waited for before that', { ...newcomer, children: starting(599_000) }, ['wait Joining']],
    [
      'is waited for when its image cannot be pulled: the next one would need it, too',
      { ...newcomer, children: starting(9_000_000, { state: { waiting: { reason: 'ImagePullBackOff' } } }) },
      ['wait Joining'],
    ],
    [
      'is waited for when it has run at least once',
      { ...newcomer, children: starting(9_000_000, { restartCount: 1 }) },
      ['wait Joining'],
    ],
    [
      'is waited for when there is no room for it',
      { ...newcomer, pods: { 3: { unschedulableForMs: 9_000_000 } } },
      ['wait Joining'],
    ],
    [
      'is removed from those that form the cluster where the others are a majority',
      {
        members: { 2: 'expected' },
        starts: { 2: 'forms' },
        claims: { 2: 'blank' },
        pods: { 2: { unschedulableForMs: 181_000, message: affinity } },
      },
      ['remove 2', 'wait Replacing'],
    ],
    [
      'stays among those that form the cluster where they are not',
      {
        members: { 1: 'leaderless', 2: 'expected' },
        starts: { 2: 'forms' },
        claims: { 2: 'blank' },
        pods: { 2: { unschedulableForMs: 181_000, message: affinity } },
      },
      ['blocked TooFewHealthy'],
    ],
  ]);
});

it('a member that has never started is told of with what keeps it', () => {
  const { cluster, children, observed } = etcdWorld({
    numbers: [0, 1, 2],
    members: { 2: 'unstarted' },
    starts: { 2: 'joins' },
    claims: { 2: 'blank' },
    pods: { all: 'outdated', 2: { crashingForMs: 181_000 } },
  });
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  expect(outcome).toMatchObject({
    reason: 'Joining',
    message: 'db-2-0: no vote yet; db-2-0 ends again and again with code 1',
  });
});

describe('the word of a pod', () => {
  it('is asked for anew before its member is removed: the watch may have fallen silent', () => {
    const { cluster, children, observed } = etcdWorld({
      members: { 1: 'silent' },
      pods: { 1: { terminatingForMs: 61_000 } },
    });
    const { steps } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    const pod = children.pods.find(({ metadata }) => metadata.name === 'db-1-0');
    expect(pod?.metadata.uid).toBeDefined();
    expect(steps).toMatchObject([
      { action: { type: 'etcd.removeMember' }, precondition: { name: 'db-1-0', uid: pod?.metadata.uid } },
    ]);
  });
});
