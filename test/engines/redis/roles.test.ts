import { describe, expect, it } from 'vitest';
import { roleLabel, termAnnotation } from '../../../src/engines/redis/names.ts';
import { planRedis } from '../../../src/engines/redis/plan.ts';
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
  expect(planRedis(cluster, children, observed).steps).toMatchObject([
    { type: 'patch', ref: { uid: 'uid-Pod-db-0' }, patch: { metadata: { labels: { [roleLabel]: null } } } },
    { type: 'patch', ref: { uid: 'uid-Pod-db-1' }, patch: { metadata: { labels: { [roleLabel]: 'primary' } } } },
  ]);
});

it('G1: so is a term on a claim', () => {
  const { cluster, children, observed } = redisWorld({ terms: { 1: 4 } });
  expect(planRedis(cluster, children, observed).steps).toMatchObject([
    {
      type: 'patch',
      ref: { resource: { kind: 'PersistentVolumeClaim' }, uid: 'uid-PersistentVolumeClaim-data-db-0' },
      patch: { metadata: { annotations: { [termAnnotation]: '5' } } },
    },
  ]);
});

describe('the term on the claim of the primary', () => {
  it.each<PlanRow>([
    ['is written when the cluster has its first', { terms: {} }, ['data-db-0: term undefined > 1', 'settled']],
    [
      'grows beyond all others with a change of primary',
      { primary: 1, terms: { 0: 7, 2: 3 } },
      ['data-db-1: term undefined > 8', 'settled'],
    ],
    [
      'grows on a node that has been primary before',
      { primary: 1, terms: { 0: 2, 1: 1 } },
      ['data-db-1: term 1 > 3', 'settled'],
    ],
    [
      'counts claims of nodes that were scaled away',
      { keptClaims: [5], terms: { 0: 1, 5: 4 } },
      ['data-db-0: term 1 > 5', 'settled'],
    ],
    ['stays where it is the highest already', { terms: { 0: 9, 1: 8 } }, ['settled']],
    [
      'is not written before the sentinels agree',
      { terms: {}, sentinels: { 2: { primary: '10.0.0.1', epoch: 0 } } },
      ['wait MembersNotReady'],
    ],
    ['needs a claim', { spec: { storage: { ephemeral: true } } }, ['settled']],
    [
      'is kept by a node alone as well',
      { spec: { mode: 'Standalone', replicas: 1 }, terms: {} },
      ['data-db-0: term undefined > 1', 'settled'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});
