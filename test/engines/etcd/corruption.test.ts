import { describe, expect, it } from 'vitest';
import type { ListedMember } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../../src/engines/etcd/status.ts';
import { corrupt, endless, holding, inconsistent, nobody, unready } from '../../support/etcd-doubt.ts';
import { etcdWorld, memberId, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const five: Story = { spec: { replicas: 5 } };
const removed = (number: number): string[] => [
  `data-db-${number}-0: etcd-corrupt 3e8/${(number + 1).toString(16)}`,
  `remove ${number}`,
  'wait Replacing',
];
const stop = ['blocked DataCorrupt'];

/** Somebody has added a member by hand; beside it are those with these numbers. */
const foreign = (change: Partial<ListedMember>, ...numbers: readonly number[]): Pick<Story, 'agreed'> => {
  const beside = numbers.length === 0 ? [0, 1, 2] : numbers;
  const { observed } = etcdWorld();
  const ours = (observed.agreed?.members ?? []).filter(({ id }) => beside.some((number) => memberId(number) === id));
  const theirs = {
    id: memberId(76),
    name: 'theirs',
    peerUrls: ['https://elsewhere:2380'],
    isLearner: false,
    hasStarted: true,
    ...change,
  };
  return { agreed: { members: [...ours, theirs] } };
};

describe('E10: a member that etcd calls corrupt', () => {
  table([
    [
      'is removed where the others hold the same, though nobody is ready',
      { ...unready, ...corrupt(1), ...holding({ 0: 'a', 1: 'b', 2: 'a' }) },
      removed(1),
    ],
    [
      'is removed where it does not answer any more',
      { ...unready, ...corrupt(1), members: { 1: 'silent' }, ...holding({ 0: 'a', 2: 'a' }) },
      removed(1),
    ],
    [
      'is removed although its own hash is that of the others: no hash tells of everything',
      { ...unready, ...corrupt(1), ...holding({ 0: 'a', 1: 'a', 2: 'a' }) },
      removed(1),
    ],
    ['is removed where it leads', { ...unready, ...corrupt(0), ...holding({ 0: 'b', 1: 'a', 2: 'a' }) }, removed(0)],
    ['stays where nobody has compared the others', { ...unready, ...corrupt(1) }, stop],
    [
      'stays where the others hold different data',
      { ...unready, ...corrupt(1), ...holding({ 0: 'a', 1: 'b', 2: 'c' }) },
      stop,
    ],
    [
      'stays where the others have dropped different histories, of which hashes say nothing',
      { ...unready, ...corrupt(1), ...holding({ 0: 'a/5', 1: 'b', 2: 'a/6' }) },
      stop,
    ],
    [
      'stays where one of the others tells no hash',
      { ...unready, ...corrupt(1), ...holding({ 0: 'a', 1: 'b', 2: '?' }) },
      stop,
    ],
    [
      'stays where one of three is away: the other is no majority',
      { ...unready, ...corrupt(1), members: { 2: 'silent' }, ...holding({ 0: 'a', 1: 'b' }) },
      stop,
    ],
    [
      'is removed where one of five is away, since the others are a majority',
      { ...five, ...unready, ...corrupt(1), members: { 2: 'silent' }, ...holding({ 0: 'a', 1: 'b', 3: 'a', 4: 'a' }) },
      removed(1),
    ],
    ['stays where it is alone', { ...unready, spec: { replicas: 1 }, ...corrupt(0), ...holding({ 0: 'a' }) }, stop],
    [
      'stays where two are left: one is no majority of two',
      {
        ...unready,
        ...corrupt(1),
        members: { 2: 'unlisted' },
        claims: { 2: 'retired' },
        starts: { 2: 'unwritten' },
        ...holding({ 0: 'a', 1: 'b' }),
      },
      stop,
    ],
    [
      'goes before one that is lost otherwise, however long it takes until somebody is ready',
      {
        ...five,
        ...unready,
        ...corrupt(1),
        members: { 2: 'silent' },
        claims: { 2: 'blank' },
        ...holding({ 0: 'a', 1: 'b', 3: 'a', 4: 'a' }),
      },
      removed(1),
    ],
    [
      'goes before a quota is looked at',
      {
        ...unready,
        alarms: [{ memberId: memberId(0), type: 'NOSPACE' }, ...(corrupt(1).alarms ?? [])],
        ...holding({ 0: 'a', 1: 'b', 2: 'a' }),
      },
      removed(1),
    ],
    [
      'and has no vote is removed, where the voters hold the same',
      { ...unready, ...corrupt(2), members: { 2: 'copying' }, ...holding({ 0: 'a', 1: 'a' }) },
      removed(2),
    ],
    [
      'is one of two of five: both go, one after the other',
      { ...five, ...unready, ...corrupt(1, 2), ...holding({ 0: 'a', 1: 'b', 2: 'c', 3: 'a', 4: 'a' }) },
      removed(1),
    ],
    [
      'is one of two of three: nobody goes',
      { ...unready, ...corrupt(1, 2), ...holding({ 0: 'a', 1: 'b', 2: 'c' }) },
      stop,
    ],
    [
      'stays where it is none of ours: nobody here can keep what it holds',
      { ...unready, ...corrupt(76), ...foreign({}), ...holding({ 0: 'a', 1: 'a', 2: 'a' }) },
      stop,
    ],
    [
      'does not restart, whatever the spec asks for',
      { ...corrupt(1), pods: { all: 'outdated' }, ...holding({ 0: 'a', 1: 'b', 2: 'c' }) },
      stop,
    ],
  ]);
});

describe('E10: an alarm that names nobody', () => {
  table([
    ['stays, and nobody is removed', { ...unready, ...nobody, ...holding({ 0: 'a', 1: 'b', 2: 'a' }) }, stop],
    ['stays although all pods are ready', { ...nobody, ...holding({ 0: 'a', 1: 'b', 2: 'a' }) }, stop],
    ['stays although all hold the same', { ...unready, ...nobody, ...holding({ 0: 'a', 1: 'a', 2: 'a' }) }, stop],
    ['stays where nobody could be compared', { ...unready, ...nobody }, stop],
    [
      'holds up the one that names somebody',
      {
        ...unready,
        alarms: [...(corrupt(1).alarms ?? []), ...(nobody.alarms ?? [])],
        ...holding({ 0: 'a', 1: 'b', 2: 'a' }),
      },
      stop,
    ],
    [
      'holds up the replacement of one that is lost',
      { ...unready, ...nobody, members: { 1: 'silent' }, claims: { 1: 'blank' }, ...holding({ 0: 'a', 2: 'a' }) },
      stop,
    ],
  ]);

  it('is said in words that tell what there is to compare', () => {
    const { cluster, children, observed } = etcdWorld({
      ...unready,
      ...nobody,
      ...holding({ 0: 'a', 1: 'b', 2: 'a' }),
    });
    const plan = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    expect(plan.outcome).toMatchObject({
      message:
        'etcd has raised CORRUPT and names no member: nobody is removed, and no alarm is ended, until a person has compared the data (one state in db-0-0, db-2-0; another state in db-1-0)',
    });
    const status = etcdStatus(situationOf(cluster, children, observed), plan);
    expect(status.phase).toBe('Blocked');
    expect(status.conditions.map(({ type, status: is }) => `${type} ${is}`)).toEqual(
      expect.arrayContaining(['Ready False', 'Stalled True', 'Degraded True']),
    );
    expect(status.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ reason: 'DataCorrupt' });
  });
});

describe('E10: hashes of members that have dropped different histories', () => {
  it('are no word of different data', () => {
    const { cluster, children, observed } = etcdWorld({
      ...unready,
      ...nobody,
      ...holding({ 0: 'a/5', 1: 'b/6', 2: 'a/5' }),
    });
    expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
      message: expect.stringMatching(
        /\(one state in db-0-0, db-2-0; db-1-0 cannot be compared: its history is dropped up to another revision\)$/,
      ),
    });
  });
});

describe('E10: the alarm of a member that has left', () => {
  const left = (more: Partial<Story> = {}): Story => ({
    ...unready,
    members: { 1: 'unlisted', ...more.members },
    claims: { 1: 'retired' },
    starts: { 1: 'unwritten' },
    children: (objects) => objects.filter(({ metadata }) => metadata.name !== 'db-1'),
    ...corrupt(1),
    ...more,
  });
  const three = left();
  const six = (more: Partial<Story> = {}): Story => left({ spec: { replicas: 5 }, ...more });
  table([
    [
      'ends where the others hold the same',
      { ...three, ...holding({ 0: 'a', 2: 'a' }) },
      ['disarm 1 CORRUPT', 'wait EndingAlarm'],
    ],
    ['stays where they do not', { ...three, ...holding({ 0: 'a', 2: 'b' }) }, stop],
    ['stays where nobody has compared them', three, stop],
    ['stays where one tells no hash', { ...three, ...holding({ 0: 'a', 2: '?' }) }, stop],
    [
      'waits for one that is away: nobody knows what it holds',
      six({ members: { 1: 'unlisted', 2: 'silent' }, ...holding({ 0: 'a', 3: 'a', 4: 'a' }) }),
      ['wait MembersNotReady'],
    ],
    [
      'waits until one that is lost has been removed',
      six({
        members: { 1: 'unlisted', 2: 'silent' },
        claims: { 1: 'retired', 2: 'blank' },
        ...holding({ 0: 'a', 3: 'a', 4: 'a' }),
      }),
      ['remove 2', 'wait Replacing'],
    ],
    [
      'ends after one without a vote has gone, which may have copied the data',
      six({ members: { 1: 'unlisted', 2: 'copying' }, ...holding({ 0: 'a', 3: 'a', 4: 'a' }) }),
      ['remove 2', 'wait Replacing'],
    ],
    [
      'is not ended while one without a vote is none of ours: somebody has added it by hand',
      { ...three, ...foreign({ isLearner: true }, 0, 2), ...holding({ 0: 'a', 2: 'a' }) },
      ['wait MembersNotReady'],
    ],
    [
      'is one of two: one ends after the other',
      { ...three, ...corrupt(1, 77), ...holding({ 0: 'a', 2: 'a' }) },
      ['disarm 1 CORRUPT', 'wait EndingAlarm'],
    ],
    [
      'stays where one is left: it agrees with nobody, and a snapshot brings the alarm along with the data',
      { ...unready, spec: { replicas: 1 }, ...corrupt(77), ...holding({ 0: 'a' }) },
      stop,
    ],
    [
      'stands beside that of one who is there: that one goes first',
      six({ ...corrupt(1, 2), ...holding({ 0: 'a', 2: 'b', 3: 'a', 4: 'a' }) }),
      removed(2),
    ],
  ]);
});

describe('E10: a member that does not start, since it has found other data than its own', () => {
  const one: Story = { members: { 1: 'silent' }, pods: { 1: inconsistent } };
  table([
    ['is replaced where the others hold the same', { ...one, ...holding({ 0: 'a', 2: 'a' }) }, removed(1)],
    ['stays where those who run do not', { ...one, ...holding({ 0: 'a', 2: 'b' }) }, stop],
    ['stays where one of them tells no hash', { ...one, ...holding({ 0: 'a', 2: '?' }) }, stop],
    ['stays where nobody has compared them', one, stop],
    ['stays however often its process ends', { ...one, pods: { 1: endless }, ...holding({ 0: 'a', 2: 'b' }) }, stop],
    [
      'is replaced where its volume is blank: whatever it found, it holds nothing',
      { ...one, claims: { 1: 'blank' }, ...holding({ 0: 'a', 2: 'b' }) },
      removed(1),
    ],
    [
      'holds up the removal of another',
      {
        ...five,
        members: { 1: 'silent', 2: 'silent' },
        pods: { 1: inconsistent },
        claims: { 2: 'blank' },
        ...holding({ 0: 'a', 3: 'b', 4: 'a' }),
      },
      stop,
    ],
    [
      'is one of two without a majority: nothing is done, and that is said',
      {
        leader: 'nobody',
        members: { 1: 'silent', 2: 'silent' },
        pods: { 1: inconsistent, 2: inconsistent },
      },
      stop,
    ],
    [
      'is waited for while its next process runs: it may be silent for another reason',
      {
        members: { 1: 'silent' },
        pods: { 1: { ...(endless as object), isRunning: true } },
        ...holding({ 0: 'a', 2: 'a' }),
      },
      ['wait MembersNotReady'],
    ],
    [
      'stays where its node does not answer either',
      {
        members: { 1: 'silent' },
        pods: { 1: { ...(inconsistent as object), terminatingForMs: 3_600_000 } },
        ...holding({ 0: 'a', 2: 'b' }),
      },
      stop,
    ],
    ['waits for nobody when it runs', { pods: { 1: inconsistent } }, ['wait MembersNotReady']],
  ]);
});

describe('E10: the volume of a member whose data was called corrupt', () => {
  const gone = (annotations: Readonly<Record<string, string>>, more: Partial<Story> = {}): Story => ({
    spec: { deletionPolicy: 'Delete' },
    members: { 1: 'unlisted' },
    starts: { 1: 'unwritten' },
    children: (objects) =>
      objects
        .filter(({ metadata }) => metadata.name !== 'db-1')
        .map((object) =>
          object.metadata.name === 'data-db-1-0'
            ? {
                ...object,
                metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
              }
            : object,
        ),
    ...more,
  });
  table([
    [
      'is kept under deletionPolicy Delete',
      gone({ 'clusterwright.dev/etcd-corrupt': '3e8/2' }),
      ['data-db-1-0: retired 3e8/2', 'add 3', 'wait ScalingOut'],
    ],
    [
      'while the volume of any other goes',
      gone({}),
      ['delete PersistentVolumeClaim data-db-1-0', 'add 3', 'wait ScalingOut'],
    ],
    [
      'is kept as well where somebody else has removed it, since it did not start for what it has found',
      gone({}, { starts: {}, pods: { 1: inconsistent } }),
      [
        'data-db-1-0: retired 3e8/2',
        'apply ConfigMap db-members: ',
        'delete StatefulSet db-1',
        'add 3',
        'wait ScalingOut',
      ],
    ],
    [
      'is kept as well where somebody else has removed it while an alarm stands',
      gone({}, { ...unready, ...nobody, ...holding({ 0: 'a', 2: 'a' }) }),
      ['data-db-1-0: retired 3e8/2', ...stop],
    ],
  ]);
});
