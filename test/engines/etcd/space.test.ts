import { describe, expect, it } from 'vitest';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import type { LiveMember } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { clusterId, etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const mebibyte = 1024 ** 2;
const spec: EtcdSpecInput = { config: { quotaBackend: '100Mi' } };
const size = (total: number, inUse: number): Partial<LiveMember> => ({
  dbSize: total * mebibyte,
  dbInUse: inUse * mebibyte,
});
const noSpace = [{ memberId: '2', type: 'NOSPACE' }];
const compacted = (revision: string, more: Partial<Story> = {}): Story => {
  const story: Story = { spec, alarms: noSpace, ...more };
  const { observed } = etcdWorld(story);
  const agreed = observed.agreed ?? { clusterId, members: [], alarms: [], isAuthenticated: false };
  return { ...story, observed: { agreed: { ...agreed, compacted: revision } } };
};

/** Five are wanted, and no node has room for the fourth. */
const awaitingNode = (all: Partial<LiveMember>): Story => ({
  spec: { ...spec, replicas: 5 },
  before: { ...spec, replicas: 3 },
  numbers: [0, 1, 2, 3],
  members: { all, 3: 'unstarted' },
  starts: { 3: 'joins' },
  pods: { 3: { unschedulableForMs: 3_600_000 } },
});

/** One that votes has no process, and gets none by itself. */
const stranded = (all: Partial<LiveMember>): Story => ({
  members: { all, 2: 'silent' },
  pods: { 2: { unschedulableForMs: 3_600_000 } },
});

/** Of the version, on a volume that has room for the database and the log, and for no copy. */
const cramped = (version: string, storage = '1Gi'): Pick<Story, 'spec'> => ({
  spec: { version, storage: { size: storage }, config: { quotaBackend: '460Mi' } },
});

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('E11: a quota that is used up', () => {
  const full = { members: { all: size(100, 99) } };
  table([
    [
      'first loses the history of its keys',
      compacted('-1', full),
      ['compact 100 on db-0-0 db-1-0 db-2-0', 'wait FreeingSpace'],
    ],
    [
      'as far as there is any left',
      compacted('99', full),
      ['compact 100 on db-0-0 db-1-0 db-2-0', 'wait FreeingSpace'],
    ],
    [
      'keeps the history where that is what is wanted, and says what can be done',
      compacted('-1', { ...full, spec: { config: { quotaBackend: '100Mi', autoCompaction: { mode: 'Off' } } } }),
      ['blocked QuotaExhausted'],
    ],
    [
      'then gives its space back, one member at a time',
      compacted('100', { members: { all: size(100, 10) } }),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'gives no space back where 3.5.16 would end for want of room, and says what can be done',
      compacted('100', { ...cramped('3.5.16'), members: { all: size(460, 300) } }),
      ['blocked QuotaExhausted'],
    ],
    [
      'gives it back where there is room for a copy, by 3.5.16 as well',
      compacted('100', { ...cramped('3.5.16', '2Gi'), members: { all: size(460, 300) } }),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'gives it back on a volume of 1Gi where little is in use',
      compacted('100', { ...cramped('3.5.16'), members: { all: size(460, 60) } }),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'tries to give it back without room where etcd goes on when that fails, which is from 3.5.17 on',
      compacted('100', { ...cramped('3.5.17'), members: { all: size(460, 300) } }),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'and under 3.6',
      compacted('100', { ...cramped('3.6.0'), members: { all: size(460, 300) } }),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'then the next one',
      compacted('100', { members: { all: size(100, 10), 1: size(10, 10) } }),
      ['defragment db-2-0', 'wait Defragmenting'],
    ],
    [
      'then the leader, after it has handed over',
      compacted('100', { members: { 0: size(100, 10), 1: size(10, 10), 2: size(10, 10) } }),
      ['lead db-0-0 -> 1', 'wait MovingLeader'],
    ],
    [
      'then ends the alarm',
      compacted('100', { members: { all: size(10, 10) } }),
      ['disarm 1 NOSPACE', 'wait EndingAlarm'],
    ],
    [
      'ends the alarm for a quota that was raised',
      compacted('100', { members: { all: size(100, 99) }, spec: { config: { quotaBackend: '200Mi' } } }),
      ['disarm 1 NOSPACE', 'wait EndingAlarm'],
    ],
    [
      'keeps the alarm where nothing could be dropped, and says what can be done',
      compacted('100', full),
      ['blocked QuotaExhausted'],
    ],
    [
      'restarts for a raised quota come first',
      compacted('100', { ...full, pods: { 1: 'outdated' } }),
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'is made room for while a new member waits for a node, which may take days',
      compacted('-1', awaitingNode(size(100, 99))),
      ['compact 100 on db-0-0 db-1-0 db-2-0', 'wait FreeingSpace'],
    ],
    [
      'gives its space back while a new member waits for a node',
      compacted('100', awaitingNode(size(100, 10))),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'ends the alarm while a new member waits for a node',
      compacted('100', awaitingNode(size(10, 10))),
      ['disarm 1 NOSPACE', 'wait EndingAlarm'],
    ],
    [
      'says what can be done while a new member waits for a node',
      compacted('100', awaitingNode(size(100, 99))),
      ['blocked QuotaExhausted'],
    ],
    [
      'keeps the alarm of a new member that does not run',
      compacted('100', { ...awaitingNode(size(100, 10)), alarms: [{ memberId: '4', type: 'NOSPACE' }] }),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'waits while a new member copies the data',
      compacted('-1', {
        ...awaitingNode(size(100, 99)),
        members: { all: size(100, 99), 3: 'copying' },
        starts: {},
        pods: {},
      }),
      ['add 4', 'promote 3', 'wait Joining'],
    ],
    [
      'is made room for by the others while one that votes waits for a node',
      compacted('-1', stranded(size(100, 99))),
      ['compact 100 on db-0-0 db-1-0', 'wait FreeingSpace'],
    ],
    [
      'has the others give space back while one that votes waits for a node',
      compacted('100', stranded(size(100, 10))),
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'no longer keeps writes out while one that votes waits for a node',
      compacted('100', stranded(size(10, 10))),
      ['disarm 1 NOSPACE', 'wait EndingAlarm'],
    ],
    [
      'says what can be done while one that votes waits for a node',
      compacted('100', stranded(size(100, 99))),
      ['blocked QuotaExhausted'],
    ],
    [
      'waits while another one of the others is not well',
      compacted('100', {
        ...stranded(size(100, 10)),
        spec: { ...spec, replicas: 5 },
        members: { all: size(100, 10), 1: 'silent', 2: 'silent' },
      }),
      ['wait MembersNotReady'],
    ],
    [
      'waits for a member that is away',
      compacted('100', { members: { all: size(100, 10), 2: 'silent' } }),
      ['wait MembersNotReady'],
    ],
    [
      'keeps the alarm while one member alone is full',
      compacted('100', { members: { all: size(10, 10), 1: size(100, 99) } }),
      ['blocked QuotaExhausted'],
    ],
    [
      'keeps the alarm from nine tenths on: it would come back at once',
      compacted('100', { members: { all: size(90, 90) } }),
      ['blocked QuotaExhausted'],
    ],
    [
      'is worth no interruption for a twentieth of it',
      compacted('100', { members: { all: size(100, 95) } }),
      ['blocked QuotaExhausted'],
    ],
    [
      'an alarm of a member that is gone ends however full the others are',
      { ...full, spec, alarms: [{ memberId: '77', type: 'NOSPACE' }] },
      ['disarm 76 NOSPACE', 'wait EndingAlarm'],
    ],
    [
      'an alarm of a member that is gone ends before that of one that is there',
      { ...full, spec, alarms: [...noSpace, { memberId: '77', type: 'NOSPACE' }] },
      ['disarm 76 NOSPACE', 'wait EndingAlarm'],
    ],
    [
      'an alarm of a member that is gone ends',
      { spec, alarms: [{ memberId: '77', type: 'NOSPACE' }] },
      ['disarm 76 NOSPACE', 'wait EndingAlarm'],
    ],
  ]);
});

it('the status says what a member without room for a copy needs', () => {
  const story = compacted('100', { ...cramped('3.5.16'), members: { all: size(460, 300) } });
  const { cluster, children, observed } = etcdWorld(story);
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
    message:
      'db-0-0, db-1-0, db-2-0: no room on the volume for the copy that gives unused space back, without which etcd 3.5.16 ends: set version to 3.5.17 or later, or raise storage.size',
  });
});

it('whose alarm is ended is named', () => {
  const { cluster, children, observed } = etcdWorld(compacted('100', { members: { all: size(10, 10) } }));
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).steps).toMatchObject([
    { summary: 'end the NOSPACE alarm of db-1-0' },
  ]);
});

const restartedAgo =
  (ms: number, restartCount = 1): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) => {
      if (object.metadata.name !== 'db-2-0') return object;
      const startedAt = new Date(now - ms).toISOString();
      const containerStatuses = [{ name: 'etcd', restartCount, state: { running: { startedAt } } }];
      return { ...object, status: { ...(object.status as object), containerStatuses } };
    });

describe('a database that is mostly unused space', () => {
  table([
    [
      'is left alone for ten minutes where its process has started again: that may have been for this',
      { spec, members: { 2: size(60, 20) }, children: restartedAgo(599_000) },
      ['settled'],
    ],
    [
      'is made smaller after that',
      { spec, members: { 2: size(60, 20) }, children: restartedAgo(600_000) },
      ['defragment db-2-0', 'wait Defragmenting'],
    ],
    [
      'is made smaller at once where its process has never ended',
      { spec, members: { 2: size(60, 20) }, children: restartedAgo(1000, 0) },
      ['defragment db-2-0', 'wait Defragmenting'],
    ],
    [
      'is made smaller whenever its quota is used up',
      { ...compacted('100', { members: { 2: size(100, 10) } }), children: restartedAgo(1000) },
      ['defragment db-2-0', 'wait Defragmenting'],
    ],
    ['is made smaller', { spec, members: { 2: size(60, 20) } }, ['defragment db-2-0', 'wait Defragmenting']],
    [
      'is left alone where the volume has no room for a copy of what is used, beside the log: 461Mi of 1Gi',
      { members: { 2: size(310, 153) } },
      ['settled'],
    ],
    ['is made smaller where it has', { members: { 2: size(306, 153) } }, ['defragment db-2-0', 'wait Defragmenting']],
    [
      'is made smaller where there is no room if its quota is used up: nothing else could help',
      { ...compacted('100', { spec: {}, members: { 2: size(460, 153) } }) },
      ['defragment db-2-0', 'wait Defragmenting'],
    ],
    ['is left alone while it is small', { spec, members: { all: size(25, 1) } }, ['settled']],
    ['is left alone while most of it is used', { spec, members: { all: size(60, 31) } }, ['settled']],
    [
      'is left alone where that is wanted',
      { spec: { ...spec, maintenance: { defrag: { mode: 'Off' } } }, members: { all: size(60, 1) } },
      ['settled'],
    ],
    [
      'is made smaller from another share on',
      { spec: { ...spec, maintenance: { defrag: { unusedPercent: 20 } } }, members: { 1: size(60, 48) } },
      ['defragment db-1-0', 'wait Defragmenting'],
    ],
    [
      'of a member that stands alone is made smaller, too',
      { spec: { ...spec, replicas: 1 }, members: { 0: size(60, 1) } },
      ['defragment db-0-0', 'wait Defragmenting'],
    ],
  ]);
});
