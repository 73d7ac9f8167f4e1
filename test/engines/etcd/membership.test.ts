import { describe, expect, it } from 'vitest';
import type { ListedMember } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const listedWith = (changes: Readonly<Record<number, Partial<ListedMember>>>): ListedMember[] =>
  (etcdWorld().observed.agreed?.members ?? []).map((member, number) => ({ ...member, ...changes[number] }));

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('more members', () => {
  const out: Story = { spec: { replicas: 5 }, before: { replicas: 3 } };
  table([
    ['come without a vote', out, ['add 3', 'wait ScalingOut']],
    [
      'the second comes as soon as the first has started',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'unstarted' }, starts: { 3: 'joins' }, pods: { 3: 'started' } },
      ['add 4', 'wait ScalingOut'],
    ],
    [
      'the second comes as soon as the first answers, which gets its vote meanwhile',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'copying' }, pods: { 3: 'unready' } },
      ['add 4', 'promote 3', 'wait Joining'],
    ],
    [
      'no second comes under 3.5, whose refusal stays in the log, where 3.6 would take it in',
      {
        ...out,
        spec: { replicas: 5, version: '3.5.21' },
        before: { replicas: 3, version: '3.5.21' },
        numbers: [0, 1, 2, 3],
        members: { 3: 'copying' },
        pods: { 3: 'unready' },
      },
      ['promote 3', 'wait Joining'],
    ],
    [
      'no third comes beside two',
      {
        spec: { replicas: 7 },
        before: { replicas: 3 },
        numbers: [0, 1, 2, 3, 4],
        members: { 3: 'unstarted', 4: 'unstarted' },
        starts: { 3: 'joins', 4: 'joins' },
        pods: { 3: 'started', 4: 'started' },
      },
      ['wait Joining'],
    ],
    [
      'none comes beside the only one that is missing',
      {
        numbers: [0, 1, 2],
        members: { 2: 'unstarted' },
        starts: { 2: 'joins' },
        pods: { 2: 'started' },
      },
      ['wait Joining'],
    ],
    [
      'the second does not come while one who votes is away',
      {
        ...out,
        numbers: [0, 1, 2, 3],
        members: { 1: 'silent', 3: 'unstarted' },
        starts: { 3: 'joins' },
        pods: { 3: 'started' },
      },
      ['wait Joining'],
    ],
    [
      'the second does not come while somebody runs by older settings',
      {
        ...out,
        numbers: [0, 1, 2, 3],
        members: { 3: 'unstarted' },
        starts: { 3: 'joins' },
        pods: { 1: 'outdated', 3: 'started' },
      },
      ['wait Joining'],
    ],
    [
      'E2: get their votes one after the other, who has copied more first',
      { ...out, numbers: [0, 1, 2, 3, 4], members: { 3: { isLearner: true, applied: 7 }, 4: 'copying' } },
      ['promote 4', 'wait Joining'],
    ],
    [
      'E2: get their vote though another is not there yet',
      { ...out, numbers: [0, 1, 2, 3, 4], members: { 3: 'unstarted', 4: 'copying' }, starts: { 3: 'joins' } },
      ['promote 4', 'wait Joining'],
    ],
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
      { numbers: [0, 1, 2], members: { 2: 'copying' } },
      ['promote 2', 'wait Joining'],
    ],
    [
      'E3: get no vote before their volume is marked: until then they would come back blank, as somebody who votes',
      { numbers: [0, 1, 2], members: { 2: 'copying' }, starts: { 2: 'joins' }, claims: { 2: 'blank' } },
      ['data-db-2-0: etcd-member 3e8/3, etcd-namespace apps', 'wait Joining'],
    ],
    [
      'E3: get their vote after the roster has said that they resume',
      { numbers: [0, 1, 2], members: { 2: 'copying' }, starts: { 2: 'joins' } },
      ['apply ConfigMap db-members: db-2.cluster=db-2=http://db-2-0.db.apps.svc:2380', 'promote 2', 'wait Joining'],
    ],
    [
      'E3: get no vote while etcd has yet to hear that they have started',
      {
        numbers: [0, 1, 2],
        members: { 2: 'copying' },
        starts: { 2: 'joins' },
        agreed: { members: listedWith({ 2: { isLearner: true, hasStarted: false } }) },
      },
      ['wait Joining'],
    ],
    [
      'E2: are waited for while they do not answer, and no other comes',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'unstarted' }, starts: { 3: 'joins' } },
      ['wait Joining'],
    ],
    ['do not come while one is away', { ...out, members: { 1: 'silent' } }, ['wait MembersNotReady']],
    ['do not come while one knows no leader', { ...out, members: { 1: 'leaderless' } }, ['wait MembersNotReady']],
    ['get the next number, whatever gaps there are', { ...out, numbers: [0, 4, 9] }, ['add 10', 'wait ScalingOut']],
    [
      'are told anew who the others are, where that has changed before they started',
      {
        ...out,
        numbers: [0, 1, 2, 3],
        members: { 2: 'unlisted', 3: 'unstarted' },
        starts: { 3: 'joins' },
        claims: { 2: 'retired', 3: 'none' },
        children: (objects) => objects.filter(({ metadata }) => !/^db-2(-0)?$/.test(metadata.name)),
      },
      [
        'apply ConfigMap db-members: db-3.cluster=db-0=http://db-0-0.db.apps.svc:2380,db-1=http://db-1-0.db.apps.svc:2380,db-3=http://db-3-0.db.apps.svc:2380',
        'wait Joining',
      ],
    ],
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
      'of whom one is too many: the newest goes before it has a vote',
      {
        ...out,
        numbers: [0, 1, 2, 3, 4, 5],
        members: { 3: 'unstarted', 4: 'copying', 5: 'copying' },
        starts: { 3: 'joins' },
      },
      ['remove 5', 'wait ScalingIn'],
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
      'are stopped where no watch shows their StatefulSet any more: the pod names it',
      {
        members: { 3: 'unlisted' },
        numbers: [0, 1, 2, 3],
        starts: { 3: 'joins' },
        claims: { 3: 'retired' },
        children: (objects) => objects.filter(({ metadata }) => metadata.name !== 'db-3'),
      },
      ['apply ConfigMap db-members: ', 'delete StatefulSet db-3', 'settled'],
    ],
    [
      'are not taken for members by the labels of their pods alone',
      {
        members: { 3: 'unlisted' },
        numbers: [0, 1, 2, 3],
        claims: { 3: 'blank' },
        children: (objects) => objects.filter(({ metadata }) => metadata.name !== 'db-3'),
      },
      ['data-db-3-0: retired blank', 'apply ConfigMap db-members: ', 'settled'],
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
    [
      'leave a volume with the data of another cluster where it is, under every policy',
      {
        spec: { deletionPolicy: 'Delete' },
        numbers: [0, 1, 2, 3],
        members: { 3: 'unlisted' },
        claims: { 3: 'foreign' },
        starts: { 3: 'unwritten' },
        children: (objects) => objects.filter(({ metadata }) => metadata.name !== 'db-3'),
      },
      ['data-db-3-0: retired 7d0/4', 'settled'],
    ],
  ]);
});

describe('access', () => {
  table([
    [
      'is closed where that is wanted',
      { spec: { auth: { enabled: true } }, before: {} },
      ['enableAuth', 'wait EnablingAuth'],
    ],
    ['is opened where that is wanted', { before: { auth: { enabled: true } } }, ['disableAuth', 'wait DisablingAuth']],
    [
      'goes by the present password as soon as it is there',
      {
        spec: { auth: { enabled: true } },
        agreed: { hasPreviousPassword: true },
      },
      ['changePassword', 'wait ChangingPassword'],
    ],
    ['is left as it is where it is right', { spec: { auth: { enabled: true } } }, ['settled']],
    [
      'is closed while a member is away: a majority is enough, and until then everybody is let in',
      { spec: { auth: { enabled: true } }, before: {}, members: { 1: 'silent' } },
      ['enableAuth', 'wait EnablingAuth'],
    ],
    [
      'is left as it is while only one of three has confirmed what the others say',
      {
        spec: { auth: { enabled: true } },
        agreed: { hasPreviousPassword: true },
        members: { 0: 'leaderless', 1: 'leaderless' },
      },
      ['wait MembersNotReady'],
    ],
    [
      'is closed while one of those that form the cluster waits for a node',
      {
        spec: { auth: { enabled: true } },
        before: {},
        members: { 2: 'expected' },
        starts: { all: 'forms' },
        claims: { 2: 'blank' },
        pods: { 2: { unschedulableForMs: 3_600_000 } },
      },
      [
        'apply ConfigMap db-members: db-0.state=existing, db-0.cluster=db-0=http://db-0-0.db.apps.svc:2380, db-1.state=existing, db-1.cluster=db-1=http://db-1-0.db.apps.svc:2380',
        'enableAuth',
        'wait EnablingAuth',
      ],
    ],
    [
      'is closed while a new member waits for a node',
      {
        spec: { auth: { enabled: true }, replicas: 5 },
        before: { replicas: 3 },
        numbers: [0, 1, 2, 3],
        members: { 3: 'unstarted' },
        starts: { 3: 'joins' },
        pods: { 3: { unschedulableForMs: 3_600_000 } },
      },
      ['enableAuth', 'wait EnablingAuth'],
    ],
    [
      'goes by the present password while a member waits for a node',
      {
        spec: { auth: { enabled: true } },
        agreed: { hasPreviousPassword: true },
        members: { 2: 'silent' },
        pods: { 2: { unschedulableForMs: 3_600_000 } },
      },
      ['changePassword', 'wait ChangingPassword'],
    ],
    [
      'waits for a new member that copies the data, and that comes first',
      {
        spec: { auth: { enabled: true } },
        before: {},
        numbers: [0, 1, 2],
        members: { 2: 'copying' },
      },
      ['promote 2', 'wait Joining'],
    ],
    [
      'without a password can be asked of nobody, and nothing is done',
      {
        spec: { auth: { enabled: true }, replicas: 5 },
        before: {},
        leader: 'nobody',
        members: { all: 'silent' },
        observed: { credentialsProblem: 'Secret db-root with key password does not exist' },
      },
      ['blocked SecretMissing'],
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
      [...[0, 1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 2Gi`), 'wait ExpandingVolumes'],
    ],
    [
      'of removed members do not',
      {
        spec: { storage: { size: '2Gi' }, config: { quotaBackend: '600Mi' } },
        before: { config: { quotaBackend: '600Mi' } },
        claims: { 0: 'retired' },
      },
      [...[1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 2Gi`), 'wait ExpandingVolumes'],
    ],
  ]);
});

describe('a member without a vote', () => {
  const startedAgo =
    (ms: number): NonNullable<Story['children']> =>
    (objects) =>
      objects.map((object) => {
        const startTime = new Date(now - ms).toISOString();
        return object.kind === 'Pod' ? { ...object, status: { ...(object.status as object), startTime } } : object;
      });
  it.each<[string, number, 'unstarted' | 'copying', number, boolean]>([
    ['that is copying is asked for at once', 59_000, 'copying', 250, false],
    ['that takes long to copy is asked for every five seconds', 61_000, 'copying', 5_000, true],
    ['that has just been started is looked after', 59_000, 'unstarted', 250, false],
    ['that does not come is looked after every five seconds', 61_000, 'unstarted', 5_000, false],
  ])('%s', (_, ago, state, recheckMs, isUnhurried) => {
    const { cluster, children, observed } = etcdWorld({
      numbers: [0, 1, 2],
      members: { 2: state },
      starts: { 2: 'joins' },
      children: startedAgo(ago),
    });
    const { steps, outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    expect(outcome).toMatchObject({ reason: 'Joining', recheckMs });
    expect(steps.some((step) => step.type === 'act' && step.unhurried === true)).toBe(isUnhurried);
  });
});

describe('E4: a change of the members', () => {
  const asked = (story: Story): string | undefined => {
    const { cluster, children, observed } = etcdWorld(story);
    const found = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).steps.flatMap((step) =>
      step.type === 'act' && 'others' in step.action ? [step.action] : [],
    );
    return found.map(({ via, others }) => [via, ...others].map(({ pod }) => pod).join(' ')).join('; ');
  };
  const out: Story = { spec: { replicas: 5 }, before: { replicas: 3 } };
  const five: Story = { spec: { replicas: 5 }, claims: { 1: 'blank' } };

  it.each<readonly [story: string, situation: Story, pods: string]>([
    ['the leader, and then all others that vote', out, 'db-0-0 db-1-0 db-2-0'],
    ['the leader first, whoever that is', { ...out, leader: 1 }, 'db-1-0 db-0-0 db-2-0'],
    ['nobody who is to leave', { before: { replicas: 5 } }, 'db-0-0 db-1-0 db-2-0 db-3-0'],
    ['nobody who does not answer', { ...five, members: { 1: 'silent', 3: 'silent' } }, 'db-0-0 db-2-0 db-4-0'],
    ['nobody who knows no leader', { ...five, members: { 1: 'silent', 3: 'leaderless' } }, 'db-0-0 db-2-0 db-4-0'],
    [
      'nobody without a vote',
      { ...out, numbers: [0, 1, 2, 3], members: { 3: 'copying' }, pods: { 3: 'unready' } },
      'db-0-0 db-1-0 db-2-0',
    ],
  ])('is asked of %s', (_, story, pods) => expect(asked(story)).toBe(pods));

  it('rests on no pod where a member is not wanted any more', () => {
    const { cluster, children, observed } = etcdWorld({ before: { replicas: 5 } });
    const { steps } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    const removal = steps.find((step) => step.type === 'act' && step.action.type === 'etcd.removeMember');
    expect(removal).toMatchObject({ destructive: true });
    expect(removal).not.toHaveProperty('precondition');
  });

  it('is told as an event where the leader moves, and as none where a member comes', () => {
    const step = (story: Story) => {
      const { cluster, children, observed } = etcdWorld(story);
      return planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).steps.find(
        ({ type }) => type === 'act',
      );
    };
    expect(step({ pods: { 0: 'outdated' } })).toMatchObject({
      action: { type: 'etcd.moveLeader' },
      event: 'MoveLeader',
    });
    expect(step(out)).not.toHaveProperty('event');
  });
});
