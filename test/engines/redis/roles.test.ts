import { describe, expect, it } from 'vitest';
import { roleLabel } from '../../../src/engines/redis/names.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld } from '../../support/redis-situation.ts';

describe('role labels', () => {
  it.each<PlanRow>([
    [
      'R5: replicas first, so that two primaries are never labelled at once',
      { pods: { 'db-0': 'unlabelled', 'db-1': 'unlabelled', 'db-2': 'unlabelled' } },
      ['db-1: role undefined > replica', 'db-2: role undefined > replica', 'db-0: role undefined > primary', 'settled'],
    ],
    [
      'R5: after a failover the old primary loses its label before the new one gets it',
      { primary: 1, pods: { 'db-0': 'primary', 'db-1': 'replica' } },
      ['db-0: role primary > replica', 'db-1: role replica > primary', 'settled'],
    ],
    [
      'R5: also where the new one has the lower ordinal',
      { primary: 0, pods: { 'db-0': 'replica', 'db-2': 'primary' } },
      ['db-2: role primary > replica', 'db-0: role replica > primary', 'settled'],
    ],
    [
      'R5: an old primary that has not been told yet is no endpoint of any role',
      { primary: 1, nodes: { 0: { role: 'primary' } }, pods: { 'db-0': 'primary', 'db-1': 'replica' } },
      ['db-0: role primary > undefined', 'db-1: role replica > primary', 'follow db-0 -> db-1', 'wait Repairing'],
    ],
    [
      'R5: an old primary that is silent, too',
      { primary: 1, nodes: { 0: 'silent' }, pods: { 'db-0': 'primary', 'db-1': 'replica' } },
      ['db-0: role primary > undefined', 'db-1: role replica > primary', 'wait MembersNotReady'],
    ],
    [
      'a replica whose link has been down for long leaves the Service of the replicas',
      { nodes: { 2: { linkUp: false, isStale: true } } },
      ['db-2: role replica > undefined', 'wait MembersNotReady'],
    ],
    [
      'one that lost it just now, as in a failover, stays',
      { nodes: { 2: { linkUp: false } } },
      ['wait MembersNotReady'],
    ],
    ['it returns with its link', { pods: { 'db-2': 'unlabelled' } }, ['db-2: role undefined > replica', 'settled']],
    [
      'where all of them have lost it they stay: old data is better than none',
      { nodes: { 1: { linkUp: false, isStale: true }, 2: { linkUp: false, isStale: true } } },
      ['wait MembersNotReady'],
    ],
    [
      'so they do where the one that has it takes no clients yet',
      { nodes: { 2: { linkUp: false, isStale: true } }, pods: { 'db-1': 'unready' } },
      ['wait MembersNotReady'],
    ],
    ['a silent replica keeps its label', { nodes: { 2: 'silent' } }, ['wait MembersNotReady']],
    [
      'a node that does not follow the primary yet is not labelled as its replica',
      {
        nodes: { 2: { follows: '10.0.0.1' } },
        sentinels: { 0: { failingOver: true } },
        pods: { 'db-2': 'unlabelled' },
      },
      ['wait MembersNotReady'],
    ],
    [
      'while nobody is primary no label moves',
      { nodes: { 0: 'silent' }, pods: { 'db-1': 'unlabelled' } },
      ['wait FailoverPending'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

it('G1: a label is put on and taken off by a patch that names the pod by its UID', () => {
  const { cluster, children, observed } = redisWorld({
    primary: 1,
    nodes: { 0: 'silent' },
    pods: { 'db-0': 'primary', 'db-1': 'replica' },
  });
  expect(planRedis(situationOf(cluster, children, observed)).steps).toMatchObject([
    { type: 'patch', ref: { uid: 'uid-Pod-db-0' }, patch: { metadata: { labels: { [roleLabel]: null } } } },
    { type: 'patch', ref: { uid: 'uid-Pod-db-1' }, patch: { metadata: { labels: { [roleLabel]: 'primary' } } } },
  ]);
});
