import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ListedMember } from '../../../src/engines/etcd/observed.ts';
import { situationOf } from '../../../src/engines/etcd/situation.ts';
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
