/** Data may differ: what a person is told, who is asked, and when it is looked at again. */

import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { corrupt, endless, holding, inconsistent, nobody, unready } from '../../support/etcd-doubt.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';

const five: Story = { spec: { replicas: 5 } };

it.each<readonly [string, Story, string]>([
  [
    'the leader, where it holds what the majority holds',
    { ...corrupt(1), ...holding({ 0: 'a', 1: 'b', 2: 'a' }), leader: 2 },
    'db-2-0',
  ],
  [
    'another of the majority, where the leader is the one',
    { ...corrupt(0), ...holding({ 0: 'b', 1: 'a', 2: 'a' }) },
    'db-1-0',
  ],
])('E10: the removal is asked of %s', (_, story, pod) => {
  const { cluster, children, observed } = etcdWorld({ ...unready, ...story });
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).steps).toContainEqual(
    expect.objectContaining({ action: expect.objectContaining({ via: expect.objectContaining({ pod }) }) }),
  );
});

it.each<readonly [string, Story, string]>([
  [
    'one that is called corrupt and has nobody beside it',
    { ...unready, spec: { replicas: 1 }, ...corrupt(0), ...holding({ 0: 'a' }) },
    'etcd says that the data of db-0-0 is corrupt, and the others do not prove it: nobody is removed, and no alarm is ended, until a person has compared the data',
  ],
  [
    'those who do not start for what they have found, where no majority answers',
    { leader: 'nobody', members: { 1: 'silent', 2: 'silent' }, pods: { 1: inconsistent } },
    'db-1-0 found data that differs from its own, and does not start',
  ],
])('E10: a person is told of %s', (_, story, message) => {
  const { cluster, children, observed } = etcdWorld(story);
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
    message: expect.stringContaining(message),
  });
});

it('E10: a person is told whom the end of such an alarm waits for', () => {
  const { cluster, children, observed } = etcdWorld({
    ...five,
    ...corrupt(77),
    members: { 2: 'silent' },
    ...holding({ 0: 'a', 1: 'a', 3: 'a', 4: 'a' }),
  });
  expect(planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).outcome).toMatchObject({
    message:
      'a CORRUPT alarm of a member that has left stands, and ends when all others have been compared: db-2-0 does not answer: no answer',
  });
});

describe('E10: the next look, while members look at their whole databases for a comparison', () => {
  const recheck = (story: Story): number | undefined => {
    const { cluster, children, observed } = etcdWorld(story);
    const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    return outcome.state === 'settled' ? undefined : outcome.recheckMs;
  };
  const one: Story = { members: { 1: 'silent' }, pods: { 1: inconsistent } };
  const runs: Story = { ...one, pods: { 1: { ...(endless as object), isRunning: true } } };
  it.each<readonly [string, Story, number]>([
    [
      'is a minute away where a person has to act and clients write',
      { ...one, ...holding({ 0: 'a', 2: 'b' }) },
      60_000,
    ],
    ['is ten seconds away where a member is waited for', { ...runs, ...holding({ 0: 'a', 2: 'a' }) }, 10_000],
    ['comes at once where a member has been taken out', { ...one, ...holding({ 0: 'a', 2: 'a' }) }, 250],
    [
      'is ten seconds away where an alarm refuses writes',
      { ...unready, ...nobody, ...holding({ 0: 'a', 1: 'b' }) },
      10_000,
    ],
    ['comes at once where an alarm ends', { ...unready, ...corrupt(1), ...holding({ 0: 'a', 1: 'b', 2: 'a' }) }, 250],
    [
      'comes at once after the end of one: the next may stand',
      { ...unready, ...corrupt(77), ...holding({ 0: 'a', 1: 'a', 2: 'a' }) },
      250,
    ],
    [
      'is ten seconds away where something else is put in order meanwhile',
      {
        ...runs,
        ...holding({ 0: 'a', 2: 'a' }),
        children: (all) => all.filter(({ kind }) => kind !== 'PodDisruptionBudget'),
      },
      10_000,
    ],
    ['is as ever where nobody compares', { members: { 1: 'silent' } }, 1000],
  ])('%s', (_, story, ms) => expect(recheck(story)).toBe(ms));
});
