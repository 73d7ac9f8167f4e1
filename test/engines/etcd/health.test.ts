/** What is said of members that are not well. */
import { describe, expect, it } from 'vitest';
import type { ListedMember } from '../../../src/engines/etcd/observe/observed.ts';
import { type Situation, situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { absent, memberProblems, wordsFor } from '../../../src/engines/etcd/plan/health.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Plight, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';

const said = (story: Story): string => {
  const { cluster, children, observed } = etcdWorld(story);
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  return 'message' in outcome ? outcome.message : '';
};

/** As etcd 3.5.35 and 3.6.16 end on a volume that is full, each time that they start. */
const full: Plight = {
  crashingForMs: 60_000,
  restarts: 3,
  log: '{"level":"fatal","msg":"failed to commit tx","error":"write /var/lib/etcd/data/member/snap/db: no space left on device"}',
};
const words = 'its volume is full, and needs a larger storage.size';

describe('a member whose process ends since its volume is full', () => {
  it('is told of as that', () => {
    expect(said({ members: { 1: 'silent' }, pods: { 1: full } })).toBe(
      `db-1-0 ends again and again with code 1: ${words}`,
    );
  });

  it('is where no majority is left', () => {
    const story: Story = { leader: 'nobody', members: { all: 'silent' }, pods: { all: full } };
    expect(said(story)).toContain(`db-0-0 ends again and again with code 1: ${words}; db-1-0 ends`);
  });

  it('is while its process has just begun again', () => {
    const story: Story = { members: { 1: 'silent' }, pods: { 1: { ...full, isRunning: true } } };
    expect(said(story)).toMatch(new RegExp(`^db-1-0 does not answer: .*: ${words}$`));
  });

  it('is while its process has just begun again, where no majority is left', () => {
    const again: Plight = { ...full, isRunning: true };
    const story: Story = { leader: 'nobody', members: { all: 'silent' }, pods: { 0: again } };
    expect(said(story)).toContain(`db-0-0 does not answer: no answer: ${words}; db-1-0 does not answer: no answer;`);
  });

  it('is no more once it answers', () => {
    expect(said({ pods: { 1: { ...full, isRunning: true } } })).toBe('db-1-0 is not ready');
  });
});

describe('in words, what keeps a cluster from being whole', () => {
  const situation = (story: Story): Situation => {
    const { cluster, children, observed } = etcdWorld(story);
    return situationOf(cluster, children, observed);
  };
  /** Somebody has changed etcd's own list. */
  const listed = (change: (members: ListedMember[]) => readonly ListedMember[]): Story => {
    const { agreed } = etcdWorld().observed;
    return { agreed: { members: change([...(agreed?.members ?? [])]) } };
  };
  const theirs = { isLearner: false, hasStarted: true, peerUrls: ['https://elsewhere:2380'] };

  it.each<readonly [story: string, world: Story, words: readonly string[]]>([
    ['nothing', {}, []],
    ['no answer', { members: { 1: 'silent' } }, ['db-1-0 does not answer: no answer']],
    ['no vote', { members: { 1: 'copying' } }, ['db-1-0 copies the data and has no vote yet']],
    ['no leader', { members: { 1: 'leaderless' } }, ['db-1-0 knows no leader']],
    ['no readiness', { pods: { 1: 'unready' } }, ['db-1-0 is not ready']],
    ['no pod', { members: { 0: 'gone', 2: 'gone' } }, ['db-0-0 has no pod', 'db-2-0 has no pod']],
    [
      'a member of somebody',
      listed((members) => [...members, { ...theirs, id: '77', name: 'theirs' }]),
      ["theirs is a member that this cluster's pods know nothing of"],
    ],
    [
      'a member of somebody that has no name yet',
      listed((members) => [...members, { ...theirs, id: '77', name: '' }]),
      ["4d is a member that this cluster's pods know nothing of"],
    ],
    [
      'another peer URL',
      listed((members) => members.map((member) => (member.id === '2' ? { ...member, ...theirs } : member))),
      [
        "db-1-0 has another peer URL in etcd's list than http://db-1-0.db.apps.svc:2380: give it that one with etcdctl member update",
      ],
    ],
  ])('%s', (_, world, words) => {
    const found = situation(world);
    expect(memberProblems(found, found.members ?? [])).toEqual(words);
  });

  it.each<readonly [story: string, world: Story, words: string]>([
    ['nobody knows a leader', {}, 'db-0-0 knows no leader; db-1-0 knows no leader'],
    ['one does not answer', { members: { 1: 'silent' } }, 'db-0-0 knows no leader; db-1-0 does not answer: no answer'],
    ['one has no pod', { members: { 0: 'gone' } }, 'db-0-0 has no pod; db-1-0 knows no leader'],
    ['one knows a leader, whom nobody else does', { members: { 0: { leaderId: '1' } } }, 'db-1-0 knows no leader'],
  ])('where no majority agrees: %s', (_, world, words) => {
    expect(absent(situation({ leader: 'nobody', ...world }), [0, 1])).toBe(words);
  });

  it('the names of members', () => {
    const { cluster, members = [] } = situation({});
    expect(wordsFor(cluster, members)).toBe('db-0-0, db-1-0, db-2-0');
  });
});
