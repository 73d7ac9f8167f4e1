import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ListedMember } from '../../../src/engines/etcd/observe/observed.ts';
import { nameOf, nextIndex, situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { etcdWorld, memberId, type Story } from '../../support/etcd-situation.ts';
import { planned } from '../../support/etcd-words.ts';

it("a second pod of a member's set, and its claim, are not taken for the member's own", () => {
  const { cluster, children, observed } = etcdWorld({ members: { 1: 'silent' } });
  const second = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, name: object.metadata.name.replace(/-0$/, '-1'), annotations: {} },
  });
  const more = children.objects.filter(({ kind }) => kind === 'Pod' || kind === 'PersistentVolumeClaim').map(second);
  const found = situationOf(cluster, childrenOf([...children.objects, ...more]), observed);
  const names = (objects: ReadonlyMap<number, KubeObject>): string[] =>
    [...objects.values()].map(({ metadata }) => metadata.name);
  expect(names(found.claims)).toEqual(['data-db-0-0', 'data-db-1-0', 'data-db-2-0']);
  expect(names(found.pods)).toEqual(['db-0-0', 'db-1-0', 'db-2-0']);
  expect([...found.taken]).toEqual([0, 1, 2]);
});

it("a copy of a member's StatefulSet under another name, labels, owner and all, is not taken for the member's own", () => {
  const { cluster, children, observed } = etcdWorld({});
  const copies = children.objects
    .filter(({ kind }) => kind === 'StatefulSet')
    .map((set) => ({
      ...set,
      metadata: { ...set.metadata, name: `${set.metadata.name}-20261123` },
      spec: { replicas: 0 },
    }));
  const { sets } = situationOf(cluster, childrenOf([...children.objects, ...copies]), observed);
  expect([...sets.values()].map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-1', 'db-2']);
});

/** As etcd lists them: the last of these members with another peer URL. */
const moved = (size: number, url = 'https://somewhere.else:2380'): { readonly members: readonly ListedMember[] } => ({
  members: Array.from(
    { length: size },
    (_, i): ListedMember => ({
      id: memberId(i),
      name: `db-${i}`,
      hasStarted: true,
      peerUrls: [i === size - 1 ? url : `http://db-${i}-0.db.apps.svc:2380`],
      isLearner: false,
    }),
  ),
});

const by = (name: string): ListedMember => ({
  id: '77',
  name,
  hasStarted: true,
  peerUrls: ['http://10.9.9.9:2380'],
  isLearner: false,
});

describe('a member that etcd lists with another peer URL than its own', () => {
  const spec = { deletionPolicy: 'Delete' } as const;
  it.each<[string, Story, readonly string[]]>([
    ['keeps its process and its volume', { spec, agreed: moved(3) }, ['wait MembersNotReady']],
    ['does where it is the only one', { spec: { ...spec, replicas: 1 }, agreed: moved(1) }, ['wait MembersNotReady']],
    [
      'does where the resource was made again with TLS among peers',
      { spec: { ...spec, replicas: 1 }, agreed: moved(1, 'http://db-0-0.db.apps.svc:2381') },
      ['wait MembersNotReady'],
    ],
    [
      'does where its process does not answer',
      { spec, agreed: moved(3), members: { 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'does where its volume has no mark yet',
      { spec, agreed: moved(3), claims: { 2: 'blank' } },
      ['data-db-2-0: etcd-member 3e8/3, etcd-namespace apps', 'wait MembersNotReady'],
    ],
    [
      'is replaced where it is lost',
      {
        spec,
        agreed: moved(3),
        members: { 2: 'silent' },
        claims: { 2: 'blank' },
        pods: { 2: { terminatingForMs: 61_000 } },
      },
      ['remove 2', 'wait Replacing'],
    ],
    [
      'is none of ours where another one has its number: nobody is started for it',
      { agreed: { members: [...moved(3, 'http://db-2-0.db.apps.svc:2380').members, by('db-2')] } },
      ['wait MembersNotReady'],
    ],
    ['needs nothing where its own is among them', { agreed: moved(3, 'http://db-2-0.db.apps.svc:2380') }, ['settled']],
  ])('%s', (_, story, plan) => {
    expect(planned(story)).toEqual(plan);
  });
});

describe('what belongs to this very cluster', () => {
  const owner = (uid: string, controller = true) => ({
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'EtcdCluster',
    name: 'db',
    uid,
    controller,
  });
  const { cluster, children, observed } = etcdWorld();
  const owned = (...ownerReferences: readonly ReturnType<typeof owner>[]): ReturnType<typeof situationOf> =>
    situationOf(
      cluster,
      childrenOf(children.objects.map((object) => ({ ...object, metadata: { ...object.metadata, ownerReferences } }))),
      observed,
    );
  const found = ({ sets, roster }: ReturnType<typeof situationOf>) => [sets.size, roster.size];

  it.each<[string, ReturnType<typeof situationOf>, readonly number[]]>([
    ['it controls', owned(owner('uid-db')), [3, 3]],
    ['it controls, beside an owner of another kind', owned(owner('uid-other', false), owner('uid-db')), [3, 3]],
    ['an earlier cluster of the name has left', owned(owner('uid-before')), [0, 0]],
    ['it owns, and another controls', owned(owner('uid-db', false), owner('uid-other')), [0, 0]],
  ])('is what %s', (_, situation, counts) => expect(found(situation)).toEqual(counts));

  it('is nothing while it has no UID', () => {
    const { uid: _, ...metadata } = cluster.metadata;
    expect(found(situationOf({ ...cluster, metadata }, children, observed))).toEqual([0, 0]);
  });

  it('is no set that says not which member it is, and nothing of another kind that does', () => {
    const [set] = children.objects.filter(({ kind }) => kind === 'StatefulSet') as [KubeObject];
    const unmarked = { ...set, metadata: { ...set.metadata, name: 'db-x', labels: {} } };
    const job = { ...set, kind: 'Job', metadata: { ...set.metadata, name: 'db-9' } };
    const marked = { ...job, metadata: { ...job.metadata, labels: { 'clusterwright.dev/member': 'db-9' } } };
    const { sets } = situationOf(cluster, childrenOf([...children.objects, unmarked, marked]), observed);
    expect([...sets.keys()]).toEqual([0, 1, 2]);
    expect([...sets.values()].map(({ kind }) => kind)).toEqual(Array(3).fill('StatefulSet'));
  });
});

describe('the members', () => {
  const world = etcdWorld();
  const { members: ours = [] } = world.observed.agreed ?? {};
  const listed = (members: readonly ListedMember[]) =>
    situationOf(world.cluster, world.children, {
      ...world.observed,
      agreed: { ...(world.observed.agreed as NonNullable<typeof world.observed.agreed>), members },
    });

  it('are sorted by their numbers, whatever order etcd lists them in; members that are not of this cluster come last', () => {
    const { members, taken } = listed([by('stranger'), ...ours.toReversed()]);
    expect(members?.map(({ index }) => index)).toEqual([0, 1, 2, undefined]);
    expect(members?.map((member) => member.isElsewhere)).toEqual(Array(4).fill(undefined));
    expect(members?.at(-1)).not.toHaveProperty('index');
    expect([...taken]).toEqual([0, 1, 2]);
  });

  it('have numbers that nobody gets again, though nothing else is left of them', () => {
    const seventh = { ...by('db-6'), peerUrls: ['http://db-6-0.db.apps.svc:2380'] };
    const situation = listed([...ours, seventh]);
    expect([...situation.taken]).toEqual([0, 1, 2, 6]);
    expect(nextIndex(situation)).toBe(7);
  });

  it('are not heard by a process of another cluster, whatever number it has there', () => {
    const { cluster, children, observed } = etcdWorld({ members: { 1: { clusterId: '2000' } } });
    const { members, leader } = situationOf(cluster, children, observed);
    expect(members?.map(({ live }) => live !== undefined)).toEqual([true, false, true]);
    expect(leader?.index).toBe(0);
  });

  it('are called by their pods, by what they call themselves, or else by their number in etcd', () => {
    const { members = [] } = listed([...ours, by('stranger'), { ...by(''), id: '255' }]);
    expect(members.map((member) => nameOf(world.cluster, member))).toEqual([
      'db-0-0',
      'db-1-0',
      'db-2-0',
      'stranger',
      'ff',
    ]);
  });
});
