import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { recoverAnnotation } from '../../../src/engines/etcd/names.ts';
import { answering, type LiveMember, type SilentMember } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

/** As the status offers it, for the member 0 as it is in `lost`. */
const request = 'db-0-0@uid-db/1/100';
const asked = (value: string): Story => ({ metadata: { annotations: { [recoverAnnotation]: value } } });
const lost: Story = {
  leader: 'nobody',
  members: { 1: 'silent', 2: 'silent' },
  claims: { 1: 'blank', 2: 'blank' },
  pods: { all: 'unready' },
};
const named: Story = { ...lost, ...asked(request) };
/** No pod has been ready for so long. */
const unreadyFor =
  (ms: number, readyPod?: string): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) => {
      if (object.kind !== 'Pod') return object;
      const status = object.metadata.name === readyPod ? 'True' : 'False';
      const ready = { type: 'Ready', status, lastTransitionTime: new Date(now - ms).toISOString() };
      return { ...object, status: { ...(object.status as object), conditions: [ready] } };
    });
const said = (story: Story): string => {
  const { cluster, children, observed } = etcdWorld(story);
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  return 'message' in outcome ? outcome.message : '';
};
/** Of the member 0 alone: the others have been stopped, their volumes are kept. */
const alone = (more: Story): Story => ({
  ...asked(request),
  pods: { all: 'unready' },
  numbers: [0],
  before: { replicas: 1 },
  spec: { replicas: 3 },
  leader: 'nobody',
  ...more,
});
const startedAgo =
  (ms: number): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) => {
      const startTime = new Date(now - ms).toISOString();
      return object.kind === 'Pod' ? { ...object, status: { ...(object.status as object), startTime } } : object;
    });

const granted = [
  'data-db-1-0: retired blank',
  'data-db-2-0: retired blank',
  `apply ConfigMap db-members: db-0.request=${request}`,
  'delete StatefulSet db-1',
  'delete StatefulSet db-2',
  'wait Recovering',
];

it('nobody is offered to go on with whose volume goes with the pod: it is said, and what to do', () => {
  const words = said({ ...lost, claims: { ...lost.claims, 0: 'going' } });
  expect(words).toMatch(/the volume of db-0-0 goes with its pod.*etcdctl snapshot save/);
  expect(words).not.toContain(request);
});

describe('E8: a request to go on with one member', () => {
  it.each<PlanRow>([
    [
      'first stops the others, and keeps their volumes apart',
      named,
      [
        'data-db-1-0: retired blank',
        'data-db-2-0: retired blank',
        `apply ConfigMap db-members: db-0.request=${request}`,
        'delete StatefulSet db-1',
        'delete StatefulSet db-2',
        'wait Recovering',
      ],
    ],
    [
      'waits until nobody else runs',
      alone({
        starts: { 0: 'chosen' },
        children: (objects) => [...objects, ...etcdWorld(lost).children.pods.slice(2)],
      }),
      ['wait Recovering'],
    ],
    [
      'then tells the survivor, and has it start again',
      alone({ starts: { 0: 'chosen' }, children: startedAgo(1000) }),
      ['apply ConfigMap db-members: db-0.alone=true', 'delete Pod db-0-0', 'wait Recovering'],
    ],
    ['waits for it', alone({ starts: { 0: 'alone' }, children: startedAgo(1000) }), ['wait Recovering']],
    [
      'stops nobody where the volume of the one to go on with would go with its pod',
      { ...named, claims: { ...lost.claims, 0: 'going' } },
      ['blocked RecoveryRefused'],
    ],
    [
      'has nobody start again whose volume would go with the pod',
      alone({ starts: { 0: 'chosen' }, claims: { 0: 'going' }, children: startedAgo(1000) }),
      ['blocked RecoveryRefused'],
    ],
    [
      'has it start again where it was not told in time',
      alone({ starts: { 0: 'alone' }, children: startedAgo(21_000) }),
      ['delete Pod db-0-0', 'wait Recovering'],
    ],
    [
      'waits where it does not answer yet',
      alone({ members: { 0: 'silent' }, starts: { 0: 'alone' }, children: startedAgo(21_000) }),
      ['wait Recovering'],
    ],
    [
      'is over when it leads, and what it was told is taken back before anybody joins it',
      alone({ leader: 0, pods: {}, starts: { 0: 'alone' }, children: startedAgo(1000) }),
      ['db: recover-from undefined', 'apply ConfigMap db-members: ', 'add 1', 'wait ScalingOut'],
    ],
    [
      'goes on where the survivor says nothing of itself meanwhile, or something else',
      alone({ members: { 0: 'silent' }, starts: { 0: 'chosen' }, children: startedAgo(1000) }),
      ['apply ConfigMap db-members: db-0.alone=true', 'delete Pod db-0-0', 'wait Recovering'],
    ],
    [
      'stops nobody twice',
      {
        ...named,
        children: (objects) =>
          objects.map((object) =>
            object.kind === 'StatefulSet' && object.metadata.name === 'db-1'
              ? { ...object, metadata: { ...object.metadata, deletionTimestamp: new Date(now).toISOString() } }
              : object,
          ),
      },
      [
        'data-db-1-0: retired blank',
        'data-db-2-0: retired blank',
        `apply ConfigMap db-members: db-0.request=${request}`,
        'delete StatefulSet db-2',
        'wait Recovering',
      ],
    ],
    [
      'waits where it was told less than twenty seconds ago',
      alone({ starts: { 0: 'alone' }, children: startedAgo(20_000) }),
      ['wait Recovering'],
    ],
    [
      'waits where the survivor is being stopped already',
      alone({ starts: { 0: 'chosen' }, pods: { 0: { terminatingForMs: 1000 } } }),
      ['apply ConfigMap db-members: db-0.alone=true', 'wait Recovering'],
    ],
    ['is carried out when the loss has lasted a minute', { ...named, children: unreadyFor(60_000) }, granted],
    [
      'waits until the last pod has been away for a minute',
      {
        ...named,
        children: (objects) => {
          const [long, short] = [unreadyFor(3_600_000)(objects), unreadyFor(59_000)(objects)];
          return objects.map((_, i) => (objects[i]?.metadata.name === 'db-1-0' ? short[i] : long[i]) as KubeObject);
        },
      },
      ['blocked QuorumLost'],
    ],
    ['is dropped where there is a majority', asked(request), ['db: recover-from undefined', 'settled']],
    ['is refused in the form before', { ...lost, ...asked('db-0-0') }, ['blocked RecoveryRefused']],
    [
      'is refused where it is for another cluster',
      { ...lost, ...asked('db-0-0@uid-old/1/100') },
      ['blocked RecoveryRefused'],
    ],
    [
      'is refused where it is for another spec',
      { ...lost, ...asked('db-0-0@uid-db/2/100') },
      ['blocked RecoveryRefused'],
    ],
    ['is refused where it names nobody', { ...lost, ...asked('db-7-0@uid-db/1/100') }, ['blocked RecoveryRefused']],
    [
      'is refused where it names a blank volume',
      { ...lost, ...asked('db-1-0@uid-db/1/100') },
      ['blocked RecoveryRefused'],
    ],
    [
      'is refused where somebody has led since',
      { ...lost, ...asked('db-0-0@uid-db/1/99') },
      ['blocked RecoveryRefused'],
    ],
    [
      'is refused where the member does not say how far its data goes',
      { ...named, members: { all: 'silent' } },
      ['blocked RecoveryRefused'],
    ],
    [
      'is refused where the member has yet to copy the data',
      { ...named, members: { ...lost.members, 0: { isLearner: true } } },
      ['blocked RecoveryRefused'],
    ],
    ['waits until the loss has lasted', { ...named, children: unreadyFor(59_000) }, ['blocked QuorumLost']],
    [
      'waits where a kubelet says that a member is ready: it is the operator who is cut off',
      { ...named, children: unreadyFor(90_000, 'db-2-0') },
      ['blocked QuorumLost'],
    ],
    [
      'holds up nothing that is done without it, where it is refused',
      {
        ...lost,
        ...asked('db-0-0'),
        claims: {},
        pods: { 0: 'unready', 1: 'unready', 2: { crashingForMs: 90_000, restarts: 0 } },
        children: (objects) =>
          objects.map((object) =>
            object.metadata.name === 'db-2-0'
              ? {
                  ...object,
                  metadata: {
                    ...object.metadata,
                    labels: { ...object.metadata.labels, 'controller-revision-hash': 'old' },
                  },
                  status: {
                    ...(object.status as object),
                    containerStatuses: [
                      { name: 'etcd', restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } },
                    ],
                  },
                }
              : object,
          ),
      },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('is decided on a look at the custom resource and the pods as they are now, at every step', () => {
    const destructive = (story: Story): unknown => {
      const { cluster, children, observed } = etcdWorld(story);
      return planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).destructive;
    };
    expect(destructive(named)).toBe(true);
    expect(destructive(alone({ starts: { 0: 'chosen' }, members: { 0: 'gone' } }))).toBe(true);
    expect(destructive(lost)).toBeUndefined();
  });

  it('is refused where the named member runs on a blank volume', () => {
    const story: Story = { ...lost, ...asked('db-1-0@uid-db/1/100'), members: { 1: 'leaderless', 2: 'silent' } };
    expect(said(story)).toContain('names db-1-0, no member whose volume holds data of this cluster');
  });

  it('is what the status says, word by word, with how far the data of each goes, once the loss has lasted', () => {
    const two: Story = {
      ...lost,
      claims: { 2: 'blank' },
      members: { 0: 'leaderless', 1: 'silent', 2: 'silent' },
      observed: {
        members: [
          ...etcdWorld(lost).observed.members.slice(0, 1),
          { state: 'silent', pod: 'db-1-0', why: 'no answer', progress: { applied: 120, revision: '88' } },
          { state: 'silent', pod: 'db-2-0', why: 'no answer', progress: { applied: 7, revision: '1' } },
        ],
      },
    };
    const offer =
      'annotate with clusterwright.dev/recover-from=POD@UID/GENERATION/APPLIED of the member to go on with: ' +
      'db-1-0@uid-db/1/120 (revision 88), db-0-0@uid-db/1/100 (revision 100)';
    expect(said(two)).toContain(offer);
    expect(said({ ...two, ...asked('db-0-0') })).toContain(
      'clusterwright.dev/recover-from must be POD@UID/GENERATION/APPLIED, such as db-0-0@uid-db/1/1234; if the others',
    );
    expect(said({ ...two, ...asked('db-0-0') })).toContain(offer);
    expect(said({ ...two, children: unreadyFor(59_000) })).not.toContain('recover-from');
  });

  it('is not offered for what another process tells at the address that a member had', () => {
    const [own] = answering(etcdWorld(lost).observed.members);
    const silent = (memberId?: string): SilentMember => ({
      state: 'silent',
      pod: 'db-0-0',
      why: 'no answer',
      progress: { applied: 100, revision: '100', ...(memberId === undefined ? {} : { memberId }) },
    });
    const offered = (member: SilentMember | LiveMember | undefined): boolean =>
      said({ ...lost, observed: { members: member === undefined ? [] : [member] } }).includes('db-0-0@uid-db/1/100');
    expect(
      own === undefined ? [] : [own, { ...own, clusterId: '7777' }, { ...own, memberId: '71' }].map(offered),
    ).toEqual([true, false, false]);
    expect([silent('1'), silent('47'), silent()].map(offered)).toEqual([true, false, true]);
    const stranger: Story = { ...named, observed: { members: [silent('47')] } };
    expect(said(stranger)).toContain('names db-0-0, which does not say how far its data goes');
  });
});
