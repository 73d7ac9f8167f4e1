/** Which member is replaced, which copies again, and which is waited for. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { retiredAnnotation } from '../../../src/engines/postgres/names.ts';
import { isOnHistory } from '../../../src/engines/postgres/observe/lost-log.ts';
import type { LiveMember } from '../../../src/engines/postgres/observe/observed.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { memberLabel } from '../../../src/resources/metadata.ts';
import { now, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const waits = ['wait MembersNotReady'];
const replaced = (number: number, next = 3): readonly string[] => [
  `data-db-${number}-0: retired true`,
  `apply ConfigMap db-members: db-${next}.start=join`,
  `create StatefulSet db-${next}`,
  'apply Role db-postgres: rules[2].resourceNames[2]',
  `delete StatefulSet db-${number}`,
  'wait Replacing',
];
/** What PostgreSQL of the primary says five seconds after its start. */
const justStarted = (): LiveMember['server'] & object => {
  const [primary] = postgresWorld().observed.members;
  if (primary?.state !== 'answering' || primary.server?.state !== 'seen') throw new Error('there is no primary');
  return { ...primary.server, facts: { ...primary.server.facts, upMs: 5000 } };
};
const seconds = (count: number): string => new Date(now - count * 1000).toISOString();

/** A last word on one pod. */
const pod =
  (number: number, change: (pod: KubeObject) => object): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) =>
      object.kind === 'Pod' && object.metadata.name === `db-${number}-0`
        ? ({ ...object, ...change(object) } as KubeObject)
        : object,
    );
const ended = (exitCode: number, restartCount: number, reason = 'Error') => ({
  status: {
    phase: 'Running',
    podIP: '10.0.0.2',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False', lastTransitionTime: seconds(200) },
    ],
    containerStatuses: [
      {
        name: 'postgres',
        restartCount,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode, reason } },
      },
    ],
  },
});
/** Not ready for long, as after an outage of its node. `count`: seconds for which its container runs since. */
const running = (count: number) => ({
  status: {
    phase: 'Running',
    podIP: '10.0.0.2',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False', lastTransitionTime: seconds(600) },
    ],
    containerStatuses: [{ name: 'postgres', restartCount: 1, state: { running: { startedAt: seconds(count) } } }],
  },
});
const terminating = (count: number): Story => ({
  members: { 2: 'silent' },
  children: pod(2, ({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp: seconds(count) } })),
});
const unscheduled = (since: number): Story => ({
  members: { 2: 'silent' },
  children: pod(2, () => ({
    status: {
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          message: '0/3 nodes are available: 1 node(s) had volume node affinity conflict',
          lastTransitionTime: seconds(since),
        },
      ],
    },
  })),
});

it('keeps a member into whose entry of the roster somebody has written something else', () => {
  const edited: Story['children'] = (objects) =>
    objects.map((object) => {
      const { data = {} } = object as KubeObject & { readonly data?: object };
      return object.metadata.name === 'db-members' ? { ...object, data: { ...data, 'db-1.start': 'other' } } : object;
    });
  expect(planned({ children: edited })).toEqual(['apply ConfigMap db-members: db-1.start=resume', 'settled']);
});

it('reads the pods again before a member is replaced: the one that was lost may be there, and no watch have told it', () => {
  const { cluster, children, observed } = postgresWorld(terminating(61));
  const plan = planPostgres(situationOf(cluster, children, observed), () => undefined);
  expect(plan.outcome).toMatchObject({ state: 'wait', reason: 'Replacing' });
  expect(plan.destructive).toBe(true);
});

describe('a member that has lost its volume', () => {
  const blank: Story = { members: { 2: 'silent' }, children: pod(2, () => ended(78, 1)) };
  table([
    [
      'is replaced before the others get another template',
      { ...blank, before: {}, spec: { scheduling: { priorityClassName: 'high' } } },
      replaced(2),
    ],
    ['is replaced when it refuses to start on a blank one', blank, replaced(2)],
    [
      'is replaced when its volume is one that has never had its data',
      { members: { 2: 'silent' }, claims: { 2: 'blank' } },
      replaced(2),
    ],
    [
      'is waited for where it has never had the data: it copies',
      { members: { 2: 'silent' }, claims: { 2: 'blank' }, starts: { 2: 'join' } },
      waits,
    ],
    ['is not replaced while nobody is primary', { ...blank, primary: 'nobody' }, ['wait NoPrimary']],
    [
      'is not replaced while another one that is new has yet to copy',
      { ...blank, starts: { 1: 'join' }, members: { 1: { isStreaming: false, isSynchronous: false }, 2: 'silent' } },
      waits,
    ],
    ['is not replaced while the primary is not well', { ...blank, pods: { 0: 'unready' } }, waits],
    ['keeps its volume, where the policy is to delete', { ...blank, spec: { deletionPolicy: 'Delete' } }, replaced(2)],
    [
      'leaves without another one where one has to leave anyway',
      { ...blank, spec: { instances: 2 }, before: { instances: 3 } },
      [
        'data-db-2-0: retired true',
        'apply ConfigMap db-members: ',
        'apply Role db-postgres: rules[2].resourceNames',
        'delete StatefulSet db-2',
        'wait Replacing',
      ],
    ],
  ]);
});

describe('all volumes blank', () => {
  it('are said: there was a database, and nothing begins a new one', () => {
    const story: Story = {
      primary: 'nobody',
      spec: { instances: 1 },
      numbers: [2],
      members: { 2: 'silent' },
      children: pod(2, () => ended(78, 1)),
    };
    expect(planned(story)).toEqual(['blocked DataLost']);
  });
});

describe('a standby that copies from nobody', () => {
  const apart = { isStreaming: false, isSynchronous: false } as const;
  const behind = (change: object = {}): Story => ({
    members: { 0: { lsn: 9000 }, 2: { ...apart, lsn: 4000, ...change } },
    observed: { logBegins: 5000 },
  });
  table([
    [
      'copies again in its place where the primary has removed the log, and another standby is whole',
      behind(),
      ['copy db-2-0 again', 'wait Reinitializing'],
    ],
    [
      'is replaced where no other standby is whole',
      {
        ...behind(),
        members: {
          0: { lsn: 9000 },
          1: { isStreaming: false, isSynchronous: false, lsn: 6000 },
          2: { ...apart, lsn: 4000 },
        },
      },
      replaced(2),
    ],
    [
      'is replaced with strict replication: its Patroni may have started before, and would copy with a slot, which confirms the log',
      { ...behind(), spec: { synchronous: { strict: true } } },
      replaced(2),
    ],
    [
      'copies again in its place with strict replication where it is new: its Patroni knows that it copies without',
      { ...behind(), spec: { synchronous: { strict: true } }, starts: { 2: 'join' } },
      ['copy db-2-0 again', 'wait Reinitializing'],
    ],
    ['is waited for until it has been asked twice', behind({ later: undefined }), waits],
    ['is waited for while it reads its own log', behind({ later: { timeline: 1, lsn: 4500 } }), waits],
    ['is waited for where the log is still there', { ...behind(), observed: { logBegins: 4000 } }, waits],
    ['is waited for where nobody tells of the log', { ...behind(), observed: {} }, waits],
    ['is waited for while it starts', behind({ postgres: 'starting' }), waits],
    [
      'is replaced where it has more than the primary, and Patroni has not rewound it',
      { members: { 0: { lsn: 3000 }, 2: { ...apart, lsn: 4000 } } },
      replaced(2),
    ],
    [
      'is waited for where it has more than the primary had a moment before',
      { members: { 0: { lsn: 3000, later: { timeline: 1, lsn: 4000 } }, 2: { ...apart, lsn: 4000 } } },
      waits,
    ],
    [
      'is waited for where it has more, and the primary does not answer again',
      { members: { 0: { lsn: 3000, later: undefined }, 2: { ...apart, lsn: 4000 } } },
      waits,
    ],
    [
      'is waited for where it has more, and has just started',
      {
        members: {
          0: { lsn: 3000 },
          2: { ...apart, lsn: 4000, server: { state: 'unknown', why: 'x' } },
        },
      },
      waits,
    ],
    [
      'is waited for where it has more than a primary that has just been elected',
      { members: { 0: { lsn: 3000 }, 2: { ...apart, lsn: 4000 } }, lock: { acquireTime: seconds(5) } },
      waits,
    ],
    [
      'is waited for where the primary has had the lock before, and has just started and been promoted',
      { members: { 0: { lsn: 3000, timeline: 2, server: justStarted() }, 2: { ...apart, lsn: 2000 } }, history: '[]' },
      waits,
    ],
    [
      'is waited for on an earlier timeline that it has not left',
      {
        members: { 0: { lsn: 9000, timeline: 2 }, 1: { timeline: 2 }, 2: { ...apart, lsn: 4000 } },
        history: '[[1, 4000, "no recovery target specified"]]',
      },
      waits,
    ],
    [
      'is replaced where it went on on an earlier timeline',
      {
        members: { 0: { lsn: 9000, timeline: 2 }, 1: { timeline: 2 }, 2: { ...apart, lsn: 4001 } },
        history: '[[1, 4000, "no recovery target specified"]]',
      },
      replaced(2),
    ],
  ]);
});

describe('a member that Kubernetes has given up', () => {
  const crashing = (exitCode: number, restarts: number, reason?: string): Story => ({
    members: { 2: 'silent' },
    children: pod(2, () => ended(exitCode, restarts, reason)),
  });
  table([
    ['is replaced when its node does not stop its pod', terminating(61), replaced(2)],
    ['is waited for within a minute', terminating(59), waits],
    ['is replaced when the node of its volume is gone', unscheduled(181), replaced(2)],
    ['is waited for within three minutes', unscheduled(179), waits],
    ['is replaced when it ends again and again, and another standby runs well', crashing(1, 5), replaced(2)],
    ['is waited for when it has ended a few times', crashing(1, 4), waits],
    ['is waited for when it needs more memory', crashing(137, 9, 'OOMKilled'), waits],
    [
      'is waited for when no other standby runs: it may be the template',
      { ...crashing(1, 9), members: { 1: 'silent', 2: 'silent' } },
      waits,
    ],
  ]);
  const noData = { systemId: undefined, role: undefined } as never;
  const notStarting = (
    postgres: string,
    ranFor: number,
    standby: Partial<LiveMember> = {},
    paused = false,
    more: Partial<LiveMember> = {},
  ): Story => ({
    members: { 1: standby, 2: { postgres, isStreaming: false, isSynchronous: false, isPaused: paused, ...more } },
    children: pod(2, () => running(ranFor)),
  });
  /** Besides, the blank volume of a member that was replaced. */
  const left =
    (change: NonNullable<Story['children']>): NonNullable<Story['children']> =>
    (objects) =>
      change(objects).flatMap((object) => {
        if (object.metadata.name !== 'data-db-2-0') return [object];
        const labels = { ...object.metadata.labels, [memberLabel]: 'db-9' };
        const annotations = { [retiredAnnotation]: 'true' };
        return [object, { ...object, metadata: { ...object.metadata, name: 'data-db-9-0', labels, annotations } }];
      });
  const copyingAgain: Story = {
    ...notStarting('stopped', 181, {}, false, noData),
    ...{ claims: { 2: 'blank' }, starts: { 2: 'join' } },
    children: left(pod(2, () => running(181))),
  };
  const begun = {
    ...copyingAgain,
    children: (objects: readonly KubeObject[]): readonly KubeObject[] =>
      pod(2, () => running(181))(objects).map((object) =>
        object.metadata.name === 'data-db-2-0'
          ? { ...object, metadata: { ...object.metadata, annotations: { [retiredAnnotation]: 'true' } } }
          : object,
      ),
  };
  table([
    [
      'is replaced when PostgreSQL has not started for three minutes, and another standby runs well',
      notStarting('start failed', 181),
      replaced(2),
    ],
    [
      'is waited for while its Patroni has run for less: it is stopped until Patroni has recovered it',
      notStarting('stopped', 179),
      waits,
    ],
    [
      'is waited for where the other standbys have yet to restart for the settings that it has',
      notStarting('start failed', 181, { restartPending: true }),
      waits,
    ],
    ['is waited for where a person has paused Patroni, and stopped it', notStarting('stopped', 181, {}, true), waits],
    [
      'is replaced once where its copy of the data fails: it may be its volume',
      { ...notStarting('stopped', 181, {}, false, noData), claims: { 2: 'blank' }, starts: { 2: 'join' } },
      replaced(2),
    ],
    ['is waited for where the copy of the one before it failed as well', copyingAgain, waits],
    [
      'is waited for where it ends again and again, as the one before it that never had the data',
      { ...copyingAgain, members: { 2: 'silent' }, children: left(pod(2, () => ended(1, 5))) },
      waits,
    ],
    ['is replaced where that has begun, and only its volume says so yet', begun, replaced(2).slice(1)],
    [
      'is replaced where that has begun, although the copy of the one before it failed as well',
      { ...begun, children: left(begun.children) },
      replaced(2, 10).slice(1),
    ],
    [
      'leaves where the copy of the one before it failed as well, and one has to leave',
      { ...copyingAgain, spec: { instances: 2 }, before: {} },
      [
        'data-db-2-0: retired true',
        'apply ConfigMap db-members: ',
        'apply Role db-postgres: rules[2].resourceNames',
        'delete StatefulSet db-2',
        'wait Replacing',
      ],
    ],
    [
      'is replaced where it has copied the data, and does not start on it',
      { ...notStarting('start failed', 181), starts: { 2: 'join' } },
      replaced(2),
    ],
  ]);
  it('holds up nobody once it has left', () => {
    const story: Story = {
      spec: {},
      before: { instances: 4 },
      rostered: [0, 1, 2],
      pods: { 1: 'outdated' },
      members: { 3: 'silent' },
      children: (objects) =>
        pod(3, ({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp: seconds(61) } }))(
          objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db-3'),
        ),
    };
    expect(planned(story)).toEqual(['delete Pod db-1-0', 'wait Restarting']);
  });
});

describe('data', () => {
  const history = [
    { timeline: 1, end: 4000 },
    { timeline: 2, end: 6000 },
  ];
  const primary = { timeline: 3, lsn: 9000 };
  it.each<[string, { timeline?: number; lsn?: number }, boolean]>([
    ['of the same timeline, with less', { timeline: 3, lsn: 9000 }, true],
    ['of the same timeline, with more', { timeline: 3, lsn: 9001 }, false],
    ['of an earlier one, up to where it ended', { timeline: 2, lsn: 6000 }, true],
    ['of an earlier one, beyond', { timeline: 2, lsn: 6001 }, false],
    ['of a later one', { timeline: 4, lsn: 1 }, false],
    ['of one that is not in the history', { timeline: 0, lsn: 1 }, false],
    ['of a member that does not say', {}, false],
  ])('%s: %o is a part of the primary’s: %s', (_, member, isPart) => {
    expect(isOnHistory(member, primary, history)).toBe(isPart);
  });
});
