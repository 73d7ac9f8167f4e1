import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { EtcdObserved } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, rosterName, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const nothing = (): [] => [];
const fresh: Story = { numbers: [], leader: 'nobody', status: {}, children: nothing };
const everyChild = [
  'create Secret db-root',
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

it.each<[story: string, situation: Story, recheckMs: number | undefined]>([
  ['runs: it is asked again soon', { leader: 'nobody', status: {} }, 250],
  ['is lost: it is asked again', { leader: 'nobody' }, 1000],
  [
    'has no pod yet: the watch of the pods tells',
    { leader: 'nobody', status: {}, members: { all: 'gone' } },
    undefined,
  ],
  ['has lost its pods: the same', { leader: 'nobody', members: { all: 'gone' } }, undefined],
])('a cluster without a majority that %s', (_, story, recheckMs) => {
  const { cluster, children, observed } = etcdWorld(story);
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  expect(outcome.state === 'wait' ? outcome.recheckMs : outcome.state).toBe(recheckMs);
});

describe('a new cluster', () => {
  table([
    ['is formed by all members at once', fresh, [...everyChild, ...sets(0, 1, 2), 'wait Forming']],
    [
      'G7: beside volumes of members that were removed gets numbers that nobody has had',
      { ...fresh, numbers: [0, 2], claims: { all: 'retired' }, children: onlyClaims },
      [...everyChild, ...sets(3, 4, 5), 'wait Forming'],
    ],
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
      [...[0, 1, 2].map((i) => `data-db-${i}-0: etcd-member 3e8/${i + 1}, etcd-namespace apps`), 'settled'],
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

describe('an entry that somebody has taken out of the roster, while no majority answers,', () => {
  const without1: Story['children'] = (objects) =>
    objects.map((object) => {
      const { kind, data = {} } = object as { readonly kind: string; readonly data?: Readonly<Record<string, string>> };
      const kept = Object.entries(data).filter(([key]) => !key.startsWith('db-1.'));
      return kind === 'ConfigMap' ? { ...object, data: Object.fromEntries(kept) } : object;
    });
  table([
    [
      'comes back where the claim says that its member has run',
      { leader: 'nobody', children: without1 },
      [
        'apply ConfigMap db-members: db-1.state=existing, db-1.cluster=db-1=http://db-1-0.db.apps.svc:2380',
        'wait QuorumLost',
      ],
    ],
  ]);

  it('stays away where its member has been removed', () => {
    const plan = planned({ leader: 'nobody', claims: { 1: 'retired' }, children: without1 });
    expect(plan.join()).not.toContain('db-1.state');
  });
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

const withoutRoster = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.filter(({ metadata }) => metadata.name !== rosterName);

describe('another cluster than the one that the volumes are of', () => {
  table([
    ['is left alone', { claims: { 2: 'foreign' } }, ['blocked ForeignCluster']],
    [
      'is left alone where there is no roster: the resource was made again, or somebody has deleted it',
      { children: withoutRoster, observed: strangers('a') },
      ['blocked ForeignCluster'],
    ],
    [
      'is left alone where its members have the names of ours, and no roster is there',
      { children: withoutRoster, observed: strangers('db') },
      ['blocked ForeignCluster'],
    ],
    [
      'is left alone where no roster and no StatefulSet is there',
      {
        children: (objects) => withoutRoster(objects).filter(({ kind }) => kind !== 'StatefulSet'),
        observed: strangers('a'),
      },
      ['blocked ForeignCluster'],
    ],
  ]);
});

/** The leader of another cluster answers at the address that a pod of ours had. */
function strangers(cluster: string): Partial<EtcdObserved> {
  const live = { address: '10.0.0.0', memberId: '71', clusterId: '7777', leaderId: '71', isLearner: false } as const;
  const data = { version: '3.6.16', applied: 5, dbSize: 20_480, dbInUse: 16_384, revision: '5' };
  const members = [0, 1, 2].map((i) => ({
    id: String(71 + i),
    name: `${cluster}-${i}`,
    hasStarted: true,
    isLearner: false,
    peerUrls: [`http://${cluster}-${i}-0.${cluster}.elsewhere.svc:2380`],
  }));
  return {
    members: [{ state: 'answering', pod: 'db-0-0', ...live, ...data }],
    agreed: { clusterId: '7777', members, alarms: [], isAuthenticated: false },
  };
}
