/** Which version is rolled out onto what runs, what comes before it, and what etcd is asked for on the way back. */

import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup, versionWords } from '../../support/etcd-words.ts';

const five = '3.5.35';
const six = '3.6.16';

const told = (story: Story): string[] => versionWords(planned(story));

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(told(story)).toEqual(plan));

const templates = ['template db-0', 'template db-1', 'template db-2'];
const up: Story = { spec: { version: six }, before: { version: five } };
const down: Story = { spec: { version: five }, before: { version: six } };

const migrated = { version: six, storageVersion: '3.5.0', downgradeTarget: '3.5.0' };
const allowed = { version: six, storageVersion: '3.6.0', downgradeTarget: '3.5.0' };
const settled = { version: six, storageVersion: '3.6.0' };

describe('E6: a version', () => {
  table([
    ['one minor ahead is rolled out', up, [...templates, 'wait Updating']],
    [
      'one minor ahead restarts one at a time',
      { members: { all: { version: five } }, pods: { 1: 'outdated' } },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'one minor ahead of a patch that is not fit for it is not: not even the templates name it',
      { ...up, before: { version: '3.5.31' } },
      ['blocked UpgradePrerequisite'],
    ],
    [
      'one minor ahead of the first patch that is fit for it is rolled out',
      { ...up, before: { version: '3.5.32' } },
      [...templates, 'wait Updating'],
    ],
    [
      'of a later patch is rolled out',
      { spec: { version: six }, before: { version: '3.6.1' } },
      [...templates, 'settled'],
    ],
    [
      'of an earlier patch is, too',
      { spec: { version: '3.6.1' }, before: { version: six } },
      [...templates, 'settled'],
    ],
    [
      'two minors ahead is not, and a template that names it is taken back',
      { members: { all: { version: '3.4.30' } } },
      [...templates, 'blocked UpgradeSkipsMinor'],
    ],
    [
      'that is refused does not keep a cluster from being parked',
      { spec: { version: six, replicas: 0 }, before: { version: '3.5.31' } },
      [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: spec.replicas`), 'wait Parking'],
    ],
    [
      'that is refused is not what a new member gets: it gets what the others run',
      {
        ...up,
        before: { version: '3.5.31' },
        numbers: [0, 1, 2],
        children: (objects) =>
          objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db-1'),
        members: { 1: 'gone' },
      },
      ['create StatefulSet db-1', 'wait MembersNotReady'],
    ],
    [
      'of another minor waits for a majority',
      { ...up, members: { all: 'silent' }, leader: 'nobody' },
      ['wait QuorumLost'],
    ],
    [
      'of another minor waits until a parked cluster runs again',
      { spec: { version: six, replicas: 3 }, before: { version: five }, members: { all: 'gone' }, leader: 'nobody' },
      ['wait QuorumLost'],
    ],
    [
      'reaches members that have never formed a cluster',
      { ...down, status: {}, starts: { all: 'forms' }, members: { all: 'expected' }, leader: 'nobody' },
      expect.arrayContaining(templates) as unknown as string[],
    ],
  ]);

  it('a new member under a version that is refused has the image of the others', () => {
    const { cluster, children, observed } = etcdWorld({
      ...up,
      before: { version: '3.5.31' },
      children: (objects) => objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db-1'),
      members: { 1: 'gone' },
    });
    const { steps } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    expect(JSON.stringify(steps)).toContain('etcd:v3.5.31');
    expect(JSON.stringify(steps)).not.toContain('etcd:v3.6.16');
  });

  it('says so before etcd is asked to let its members go back, too', () => {
    const back = etcdWorld({ ...down, members: { all: settled } });
    expect(planEtcd(situationOf(back.cluster, back.children, back.observed), takesEtcdBackup).outcome).toMatchObject({
      message: 'etcd is asked to let its members go back to 3.5; no backup comes before: spec.backup names no target',
    });
  });

  it('says before the first restart that no backup comes first, where none can', () => {
    const { cluster, children, observed } = etcdWorld(up);
    expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
      message: expect.stringContaining('no backup comes before: spec.backup names no target'),
    });
    const going = etcdWorld({ members: { all: { version: five } }, pods: { 1: 'outdated' } });
    expect(planEtcd(situationOf(going.cluster, going.children, going.observed), takesEtcdBackup).outcome).toMatchObject(
      {
        message: expect.stringContaining('no backup comes before'),
      },
    );
  });
});

describe('E7: the minor before', () => {
  table([
    [
      'is asked for, and no template names it yet',
      { ...down, members: { all: settled } },
      ['enableDowngrade 3.5.0', 'wait Downgrading'],
    ],
    [
      'is asked for down to the first patch that is fit for it',
      { spec: { version: '3.5.32' }, before: { version: six }, members: { all: settled } },
      ['enableDowngrade 3.5.0', 'wait Downgrading'],
    ],
    [
      'is not asked for while a member is away',
      { ...down, members: { all: settled, 1: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'is not to be had where etcd refuses it',
      {
        ...down,
        members: { all: settled },
        agreed: { downgrade: { state: 'refused', words: 'etcdserver: invalid downgrade target version' } },
      },
      ['blocked DowngradeRefused'],
    ],
    [
      'waits until every member has brought its data into the old form',
      { ...down, members: { all: migrated, 2: allowed } },
      ['wait Downgrading'],
    ],
    [
      'waits for a member that does not answer any more',
      { ...down, members: { all: migrated, 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    ['is rolled out then', { ...down, members: { all: migrated } }, [...templates, 'wait Downgrading']],
    [
      'restarts one at a time, the leader last',
      {
        spec: { version: five },
        members: { all: migrated, 1: { version: five } },
        pods: { 0: 'outdated', 2: 'outdated' },
      },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
    [
      'does not restart the next one where its data has another form',
      { spec: { version: five }, members: { all: { version: five }, 2: settled }, pods: { 2: 'outdated' } },
      ['template db-2', 'wait Downgrading'],
    ],
    [
      'does not restart anybody after somebody else has cancelled it: the templates are taken back',
      { spec: { version: five }, members: { all: settled }, pods: { all: 'outdated' } },
      [...templates, 'enableDowngrade 3.5.0', 'wait Downgrading'],
    ],
    [
      'is not taken for prepared while the members go back up after a cancellation',
      { ...down, members: { all: { version: six, storageVersion: '3.5.0' } } },
      ['wait Downgrading'],
    ],
    [
      'waits until etcd has ended the downgrade',
      { spec: { version: five }, agreed: { downgrade: { state: 'underway' } } },
      ['wait Downgrading'],
    ],
    [
      'may be gone back to in the middle of an upgrade without being asked for: the cluster has never left it',
      {
        ...down,
        members: { all: { version: six, storageVersion: '3.5.0' }, 1: { version: five } },
      },
      [...templates, 'wait Updating'],
    ],
    [
      'has to be a patch that is fit for the way up',
      { ...down, spec: { version: '3.5.31' } },
      ['blocked DowngradeRefused'],
    ],
  ]);

  it('is refused with the words of etcd', () => {
    const words = 'etcdserver: invalid downgrade target version';
    const world = etcdWorld({ ...down, members: { all: settled }, agreed: { downgrade: { state: 'refused', words } } });
    const { outcome } = planEtcd(situationOf(world.cluster, world.children, world.observed), takesEtcdBackup);
    expect(outcome).toMatchObject({ state: 'blocked', message: `etcd refuses to go back to 3.5: ${words}` });
  });
});

describe('a downgrade that is not wanted any more', () => {
  table([
    [
      'is cancelled before anybody has gone',
      { members: { all: migrated } },
      ['cancelDowngrade', 'wait CancellingDowngrade'],
    ],
    [
      'is cancelled in the middle, and nobody restarts before',
      { members: { all: migrated, 1: { version: five } }, pods: { 1: 'outdated' } },
      ['template db-1', 'cancelDowngrade', 'wait CancellingDowngrade'],
    ],
    [
      'is cancelled though all have gone, where etcd has not ended it yet',
      { ...up, agreed: { downgrade: { state: 'underway' } } },
      ['cancelDowngrade', 'wait CancellingDowngrade'],
    ],
    [
      'is cancelled while a member is away',
      { members: { all: migrated, 1: 'silent' } },
      ['cancelDowngrade', 'wait CancellingDowngrade'],
    ],
  ]);
});

describe('while a downgrade lasts no member can join', () => {
  table([
    [
      'so it is cancelled for a member that has been lost',
      { ...down, numbers: [0, 1], before: { version: six }, members: { all: migrated } },
      ['cancelDowngrade', 'wait CancellingDowngrade'],
    ],
    [
      'and for one that has no vote yet',
      {
        ...down,
        spec: { version: five, replicas: 5 },
        before: { version: six, replicas: 5 },
        members: { all: migrated, 4: 'unstarted' },
      },
      ['cancelDowngrade', 'wait CancellingDowngrade'],
    ],
    [
      'but a fifth one waits until it is over',
      {
        spec: { version: five, replicas: 5 },
        numbers: [0, 1, 2, 3],
        members: { all: migrated, 1: { version: five } },
        pods: { all: 'outdated', 1: 'started' },
      },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
    [
      'and none is added before the first restart',
      {
        ...down,
        spec: { version: five, replicas: 5 },
        before: { version: six, replicas: 5 },
        numbers: [0, 1, 2, 3],
        members: { all: migrated },
      },
      [...templates, 'template db-3', 'wait Downgrading'],
    ],
    [
      'and none is allowed before the cluster has grown',
      {
        ...down,
        spec: { version: five, replicas: 3 },
        before: { version: six, replicas: 1 },
        members: { all: settled },
      },
      ['add 1', 'wait ScalingOut'],
    ],
  ]);
});
