/** Sentinel has elected a server that is no node of the cluster, and that one may have ended since. */

import { describe, expect, it } from 'vitest';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import type { SentinelView } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { sentinelSettings } from '../../../src/engines/redis/resources/config.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { knownReplicas, redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';

const nobody: Story = { primary: 'nobody' };
const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });

/** They had elected a server from elsewhere, which has ended; for so long the nodes were without a link. */
const left = (unlinkedMs: number, restarted = unlinkedMs, seen = false): Story => ({
  ...nobody,
  terms: { 0: 1 },
  nodes: { 0: 'gone', 1: { offset: 900 } },
  sentinels: {
    all: {
      primary: '10.77.0.1',
      seesPrimary: seen,
      primaryDown: !seen,
      settings: { ...sentinelSettings(redisCluster()), 's-down-time': '5000' },
      replicas: [
        { ...knownReplicas(1)[0], unlinkedMs },
        { ...knownReplicas(2)[0], unlinkedMs: restarted },
      ] as SentinelView['replicas'],
    },
  },
});

/** As Sentinel knows the primary of before: among the replicas, as if it had never been without a link. */
const withFormer = (former: 'silent' | 'unassigned', known: Partial<SentinelView['replicas'][number]>): Story => {
  const story = left(64_000);
  const view = (story.sentinels as { readonly all: Partial<SentinelView> }).all;
  const replicas = [{ ...knownReplicas(0)[0], ...known }, ...(view.replicas ?? [])] as SentinelView['replicas'];
  return { ...story, nodes: { 0: former, 1: { offset: 900 } }, sentinels: { all: { ...view, replicas } } };
};

describe('a server from elsewhere, which copied from the cluster', () => {
  it.each<PlanRow>([
    [
      'they have elected a server from elsewhere, which copied from the cluster',
      { ...nobody, terms: { 0: 1 }, sentinels: { all: { primary: '10.77.0.1', seesPrimary: true } } },
      ['wait PrimaryElsewhere'],
    ],
    [
      'and it ends: the failover is theirs',
      {
        ...nobody,
        terms: { 0: 1 },
        sentinels: { all: { primary: '10.77.0.1', seesPrimary: false, primaryDown: true } },
      },
      ['wait FailoverPending'],
    ],
    [
      'and it ends after a while: Sentinel passes over every node, and a person has to choose',
      left(64_000),
      ['blocked PrimaryElsewhere'],
    ],
    [
      'and a person has chosen',
      { ...left(64_000), ...choosing('db-2:uid-Pod-db-2') },
      ['promote db-2', 'wait Promoting'],
    ],
    ['a name alone may be from before', { ...left(64_000), ...choosing('db-2') }, ['blocked PrimaryElsewhere']],
    [
      'the pod of the primary of before is there still, on a machine that is gone: Sentinel has heard nothing of that one since',
      withFormer('silent', { down: true }),
      ['blocked PrimaryElsewhere'],
    ],
    [
      'and a person has chosen',
      { ...withFormer('silent', { down: true }), ...choosing('db-2:uid-Pod-db-2') },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'the primary of before answers, and Sentinel has yet to hear it: the failover is theirs',
      withFormer('unassigned', { down: true }),
      ['wait FailoverPending'],
    ],
    [
      'Sentinel hears the primary of before, which does not answer here: the failover is theirs',
      withFormer('silent', {}),
      ['wait FailoverPending'],
    ],
    ['it ends soon: the failover is theirs', left(34_000), ['wait FailoverPending']],
    ['so it is where one of the nodes was started anew', left(64_000, -1000), ['wait FailoverPending']],
    ['it is there still', left(64_000, 64_000, true), ['wait PrimaryElsewhere']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('the status says which node has the most where a server from elsewhere has left none to elect', () => {
    const { cluster, children, observed } = redisWorld(left(64_000));
    const { outcome } = planRedis(situationOf(cluster, children, observed));
    expect(outcome).toEqual({
      state: 'blocked',
      reason: 'PrimaryElsewhere',
      message:
        'Sentinel had elected 10.77.0.1, which was no node of this cluster and has ended, and elects none of the nodes: they have been without a link for too long; ' +
        'db-2 has the most data of those that answer (term 1, offset 1000); if the others are gone for good, set the annotation clusterwright.dev/choose-primary to db-2:uid-Pod-db-2',
      recheckMs: 10_000,
    });
  });

  it('the status says as well that the last primary is back, at an address that Sentinel does not know', () => {
    const story = left(64_000);
    const { cluster, children, observed } = redisWorld({
      ...story,
      nodes: { 0: { offset: 0 }, 1: { offset: 900 } },
    });
    const { outcome } = planRedis(situationOf(cluster, children, observed));
    expect(outcome).toMatchObject({
      state: 'blocked',
      reason: 'PrimaryElsewhere',
      message: expect.stringContaining('db-0:uid-Pod-db-0, the last primary, is back'),
    });
  });
});
