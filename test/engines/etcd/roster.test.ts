/** How each member is to start, as it is decided, written into a ConfigMap, and read again. */
import { describe, expect, it } from 'vitest';
import { recoverAnnotation } from '../../../src/engines/etcd/names.ts';
import { formationOf } from '../../../src/engines/etcd/observe/formation.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import {
  forming,
  isResuming,
  joining,
  type Roster,
  readRoster,
  resuming,
  rosterData,
  type Start,
} from '../../../src/engines/etcd/resources/roster.ts';
import { etcdCluster, etcdWorld, type Story } from '../../support/etcd-situation.ts';

const cluster = etcdCluster();

function decided(story: Story): Roster {
  const { children, observed, ...world } = etcdWorld(story);
  const formation = formationOf(situationOf(world.cluster, children, observed));
  if (formation.state === 'lost') throw new Error(formation.message);
  return formation.roster;
}
const without =
  (...names: readonly string[]): NonNullable<Story['children']> =>
  (objects) =>
    objects.filter(({ metadata }) => !names.includes(metadata.name));

describe('how a member is to start', () => {
  const request = { annotations: { [recoverAnnotation]: 'db-0' } };
  type Row = readonly [story: string, world: Story, number: number, start: Start | undefined];
  it.each<Row>([
    [
      'resumes by its volume alone, where it is not written down and has no StatefulSet',
      { starts: { 1: 'unwritten' }, members: { 1: 'silent' } },
      1,
      resuming(cluster, 1),
    ],
    [
      'is started again though its volume and its StatefulSet are gone, as it is written down',
      { claims: { 1: 'none' }, members: { 1: 'silent' }, children: without('db-1', 'db-1-0') },
      1,
      resuming(cluster, 1),
    ],
    [
      'is not where nothing is left of it at all',
      { claims: { 1: 'none' }, members: { 1: 'silent' }, starts: { 1: 'unwritten' } },
      1,
      undefined,
    ],
    [
      'has peers again after it has gone on alone',
      { starts: { 0: 'alone' }, claims: { 0: 'blank' } },
      0,
      resuming(cluster, 0),
    ],
    [
      'has peers again after it was to go on alone',
      { metadata: request, starts: { 0: 'chosen' }, claims: { 0: 'blank' } },
      0,
      resuming(cluster, 0),
    ],
    [
      'resumes only once its volume says whose data it holds',
      { starts: { 1: 'joins' }, claims: { 1: 'blank' } },
      1,
      joining(cluster, [0, 1, 2]),
    ],
    [
      'resumes once its volume says so, though another is away',
      { starts: { 1: 'joins' }, members: { 2: 'silent' } },
      1,
      resuming(cluster, 1),
    ],
    [
      'is written once for all while the cluster is being formed',
      { status: {}, starts: { all: 'forms' }, members: { 2: 'expected' } },
      1,
      forming(cluster, 3).get(1),
    ],
    [
      'joins where it votes, has never run, and nobody has written down how it forms the cluster',
      { members: { 1: 'expected' }, starts: { 1: 'unwritten' } },
      1,
      joining(cluster, [0, 1, 2]),
    ],
  ])('%s', (_, world, number, start) => expect(decided(world).get(number)).toEqual(start));

  it.each<readonly [story: string, world: Story]>([
    ['of volumes alone', { leader: 'nobody', starts: { all: 'unwritten' } }],
    ['of which one entry was taken away', { leader: 'nobody', children: withoutEntry('db-0') }],
  ])('is in the order of their numbers where it is made %s', (_, world) => {
    const children: Story['children'] = (objects) => [...(world.children?.(objects) ?? objects)].reverse();
    expect([...decided({ ...world, children }).keys()]).toEqual([0, 1, 2]);
  });

  function withoutEntry(member: string): NonNullable<Story['children']> {
    return (objects) =>
      objects.map((object) =>
        object.kind === 'ConfigMap' && object.metadata.name === 'db-members'
          ? {
              ...object,
              data: Object.fromEntries(
                Object.entries(object.data as object).filter(([key]) => !key.startsWith(`${member}.`)),
              ),
            }
          : object,
      );
  }
});

describe('a start', () => {
  const whole = resuming(cluster, 1);
  it.each<readonly [story: string, start: Start, isResuming: boolean]>([
    ['on its own volume resumes', whole, true],
    ['of somebody else does not', resuming(cluster, 2), false],
    ['of a new cluster of one does not', { ...whole, state: 'new' }, false],
    ['alone does not', { ...whole, forceNewCluster: true }, false],
    ['that is asked for does not', { ...whole, request: 'x' }, false],
  ])('%s', (_, start, expected) => expect(isResuming(cluster, 1, start)).toBe(expected));
});

describe('the roster in its ConfigMap', () => {
  const roster: Roster = new Map([
    [10, joining(cluster, [2, 10])],
    [2, { ...resuming(cluster, 2), forceNewCluster: true, request: 'db-2' }],
  ]);
  const written = {
    'db-2.state': 'existing',
    'db-2.cluster': 'db-2=http://db-2-0.db.apps.svc:2380',
    'db-2.alone': 'true',
    'db-2.request': 'db-2',
    'db-10.state': 'existing',
    'db-10.cluster': 'db-2=http://db-2-0.db.apps.svc:2380,db-10=http://db-10-0.db.apps.svc:2380',
  };

  it('is written by number, since its fingerprint depends on the order', () => {
    expect(Object.entries(rosterData(cluster, roster))).toEqual(Object.entries(written));
  });

  it('is read as it was written, by number', () => {
    const sorted = Object.fromEntries(Object.entries(written).sort(([a], [b]) => (a < b ? -1 : 1)));
    expect(Object.keys(sorted)[0]).toContain('db-10');
    expect([...readRoster(cluster, sorted)]).toStrictEqual([...roster].reverse());
  });

  it.each<readonly [story: string, entries: Readonly<Record<string, string>>]>([
    ['a state that there is not', { 'db-0.state': 'other', 'db-0.cluster': 'x' }],
    ['no peers', { 'db-0.state': 'new' }],
    ['another name', { 'other-0.state': 'new', 'db-0.cluster': 'x' }],
    ['a number in other words', { 'db-00.state': 'new', 'db-0.cluster': 'x', 'db-00.cluster': 'x' }],
    ['more behind it', { 'db-0.state.old': 'new', 'db-0.cluster': 'x', 'db-0.state.old.cluster': 'x' }],
    ['no number', { 'db-x.state': 'new', 'db-NaN.state': 'new', 'db-NaN.cluster': 'x' }],
  ])('holds no entry with %s', (_, entries) => expect([...readRoster(cluster, entries).keys()]).toEqual([]));

  it.each(['new', 'existing'] as const)('holds one whose state is %s, which may hold no more', (state) => {
    const entries = { 'db-0.state': state, 'db-0.cluster': 'x', 'db-0.alone': 'false' };
    expect([...readRoster(cluster, entries)]).toStrictEqual([[0, { state, cluster: 'x' }]]);
  });
});
