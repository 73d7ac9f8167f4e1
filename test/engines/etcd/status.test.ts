import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/api/condition.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdStatus, roundedSize } from '../../../src/engines/etcd/status.ts';
import type { Claim } from '../../../src/resources/children.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';
import { coherent } from '../../support/truthful-engine.ts';

function statusOf(story: Story) {
  const { cluster, children, observed } = etcdWorld(story);
  return coherent(
    etcdStatus(
      situationOf(cluster, children, observed),
      planEtcd(situationOf(cluster, children, observed), takesEtcdBackup),
    ),
  );
}

/** `Ready/AllMembersReady`: the phase, why it is ready or not, and what else is true. */
function words(story: Story): string {
  const { phase, conditions } = statusOf(story);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const others = conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True').map(({ type }) => type);
  return [`${phase}/${ready?.status}/${ready?.reason}`, ...others].join(' ');
}

const was = { initialized: true, observedGeneration: 1 } as const;
const ready = { ...was, phase: 'Ready' } as const;
const changed = { status: ready, metadata: { generation: 2 } };

const large = { spec: { storage: { size: '10Gi' } }, before: {} } as const satisfies Story;
/** Volumes were all that was waited for. */
const expanding: readonly Condition[] = [
  {
    type: 'Ready',
    status: 'False',
    reason: 'ExpandingVolumes',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  },
];

const failedToGrow: NonNullable<Story['children']> = (objects) =>
  objects.map((object) => {
    if (object.kind !== 'PersistentVolumeClaim') return object;
    const { status } = object as Claim;
    return { ...object, status: { ...status, conditions: [{ type: 'ControllerResizeError', status: 'True' }] } };
  });

describe('a status', () => {
  it.each<[string, Story, string]>([
    [
      'of a new cluster',
      { numbers: [], leader: 'nobody', status: {}, children: () => [] },
      'Creating/False/Forming Progressing Reconciling',
    ],
    ['of one that is whole', {}, 'Ready/True/AllMembersReady'],
    [
      'of one whose member is away',
      { status: ready, members: { 1: 'silent' } },
      'Degraded/False/MembersNotReady Progressing Degraded Reconciling',
    ],
    [
      'of one whose member is lost',
      { status: ready, members: { 1: 'silent' }, claims: { 1: 'blank' } },
      'Degraded/False/Replacing Progressing Degraded Reconciling',
    ],
    [
      'of one whose lost member is being replaced',
      { status: { ...ready, phase: 'Degraded' }, members: { 1: 'unlisted' }, claims: { 1: 'retired' } },
      'Degraded/False/ScalingOut Progressing Degraded Reconciling',
    ],
    [
      'of one that grows',
      { ...changed, spec: { replicas: 5 }, before: {} },
      'Updating/False/ScalingOut Progressing Reconciling',
    ],
    [
      'of one that shrinks',
      { ...changed, spec: { replicas: 1 }, before: {} },
      'Updating/False/ScalingIn Progressing Reconciling',
    ],
    [
      'of one that restarts',
      { ...changed, pods: { 1: 'outdated' } },
      'Updating/False/Restarting Progressing Reconciling',
    ],
    [
      'of one without a majority',
      { status: ready, leader: 'nobody', members: { 1: 'silent', 2: 'silent' } },
      'Degraded/False/QuorumLost Progressing Degraded Reconciling',
    ],
    [
      'of one without a majority, while it was to change',
      { ...changed, leader: 'nobody', members: { 1: 'silent', 2: 'silent' } },
      'Degraded/False/QuorumLost Progressing Degraded Reconciling',
    ],
    [
      'of one that has lost most volumes',
      { status: ready, leader: 'nobody', members: { 1: 'silent', 2: 'silent' }, claims: { 1: 'blank', 2: 'blank' } },
      'Blocked/False/QuorumLost Degraded Stalled',
    ],
    [
      'of one that is parked',
      { spec: { replicas: 0 }, before: {}, members: { all: 'gone' }, leader: 'nobody' },
      'Ready/True/Parked',
    ],
    [
      'of one that is being parked',
      { ...changed, spec: { replicas: 0 }, before: {} },
      'Updating/False/Parking Progressing Reconciling',
    ],
    [
      'of one whose volumes grow',
      { ...changed, spec: { storage: { size: '10Gi' } }, before: {} },
      'Updating/False/ExpandingVolumes Progressing Reconciling VolumesTooSmall',
    ],
    [
      'of one whose volumes were to grow before anybody said so',
      { status: ready, spec: { storage: { size: '10Gi' } }, before: {} },
      'Updating/False/ExpandingVolumes Progressing Reconciling VolumesTooSmall',
    ],
    [
      'of one whose member is away and whose volumes cannot grow: nobody has asked for that',
      { ...large, status: { ...ready, phase: 'Blocked' }, members: { 1: 'silent' } },
      'Degraded/False/MembersNotReady Progressing Degraded Reconciling VolumesTooSmall',
    ],
    [
      'of one whose member is away and whose volumes have been growing for long: nobody has asked for that',
      { ...large, status: { ...ready, phase: 'Updating', conditions: expanding }, members: { 1: 'silent' } },
      'Degraded/False/MembersNotReady Progressing Degraded Reconciling VolumesTooSmall',
    ],
    [
      'of one whose volumes have failed to grow: the members serve',
      { ...large, status: ready, children: failedToGrow },
      'Blocked/False/VolumesTooSmall Stalled VolumesTooSmall',
    ],
    [
      'of one that takes no writes',
      { status: ready, alarms: [{ memberId: '1', type: 'NOSPACE' }] },
      'Degraded/False/EndingAlarm Progressing Degraded Reconciling',
    ],
  ])('%s', (_, story, expected) => expect(words(story)).toBe(expected));

  it('names the leader, the members and how to reach them', () => {
    const { members, primary, version, connection, selector, initialized } = statusOf({
      leader: 1,
      members: { 2: 'silent' },
    });
    expect({ primary, version, initialized, selector }).toEqual({
      primary: 'db-1-0',
      version: '3.6.16',
      initialized: true,
      selector:
        'app.kubernetes.io/name=etcd,app.kubernetes.io/instance=db,app.kubernetes.io/component=member,app.kubernetes.io/managed-by=clusterwright',
    });
    expect(connection).toEqual({
      services: [
        { role: 'client', host: 'db-client', port: 2379 },
        { role: 'peer', host: 'db', port: 2380 },
      ],
    });
    expect(members).toEqual([
      {
        name: 'db-0-0',
        role: 'voter',
        ready: true,
        version: '3.6.16',
        node: 'node-0',
        address: '10.0.0.0',
        id: '1',
        dataSize: '1Mi',
      },
      {
        name: 'db-1-0',
        role: 'leader',
        ready: true,
        version: '3.6.16',
        node: 'node-1',
        address: '10.0.0.1',
        id: '2',
        dataSize: '1Mi',
      },
      { name: 'db-2-0', role: 'voter', ready: true, node: 'node-2', address: '10.0.0.2', id: '3' },
    ]);
  });

  it('remembers the leader while nobody leads', () => {
    const { primary, version } = statusOf({
      status: { ...ready, primary: 'db-1-0', version: '3.6.16' },
      leader: 'nobody',
    });
    expect([primary, version]).toEqual(['db-1-0', '3.6.16']);
  });

  it.each([
    [0, '1Mi'],
    [1024 ** 2, '1Mi'],
    [1024 ** 2 + 1, '2Mi'],
    [100 * 1024 ** 2, '128Mi'],
    [3 * 1024 ** 3, '4096Mi'],
  ])('says that %i bytes are %s', (bytes, text) => expect(roundedSize(bytes)).toBe(text));
});
