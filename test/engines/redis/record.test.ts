import { describe, expect, it } from 'vitest';
import { addressAnnotation, choiceAnnotation, termAnnotation } from '../../../src/engines/redis/names.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, termed } from '../../support/redis-situation.ts';

it('G1: a claim is written on by one patch that names it by its UID', () => {
  const { cluster, children, observed } = redisWorld({ terms: { 1: 4 }, addresses: { 1: '10.0.0.1', 2: '10.0.0.2' } });
  expect(planRedis(situationOf(cluster, children, observed)).steps).toMatchObject([
    {
      type: 'patch',
      ref: { resource: { kind: 'PersistentVolumeClaim' }, uid: 'uid-PersistentVolumeClaim-data-db-0' },
      patch: { metadata: { annotations: { [termAnnotation]: '5', [addressAnnotation]: '10.0.0.0' } } },
    },
    { type: 'act', action: { type: 'redis.configure' } },
  ]);
});

describe('the term on the claim of the primary', () => {
  it.each<PlanRow>([
    [
      'is written when the cluster has its first',
      { terms: {} },
      ['data-db-0: term undefined > 1', 'configure db-0 cluster-announce-hostname=primary-1', 'settled'],
    ],
    [
      'grows beyond all others with a change of primary',
      { primary: 1, terms: { 0: 7, 2: 3 } },
      ['data-db-1: term undefined > 8', 'configure db-1 cluster-announce-hostname=primary-8', 'settled'],
    ],
    [
      'grows on a node that has been primary before',
      { primary: 1, terms: { 0: 2, 1: 1 } },
      ['data-db-1: term 1 > 3', 'configure db-1 cluster-announce-hostname=primary-3', 'settled'],
    ],
    [
      'counts claims of nodes that were scaled away',
      { keptClaims: [5], terms: { 0: 1, 5: 4 } },
      ['data-db-0: term 1 > 5', 'configure db-0 cluster-announce-hostname=primary-5', 'settled'],
    ],
    [
      'counts them also where no node has heard of their terms',
      {
        keptClaims: [5],
        terms: { 0: 1, 5: 4 },
        nodes: { 0: termed('primary', 1), 1: termed('replica', 1), 2: termed('replica', 1) },
      },
      ['data-db-0: term 1 > 5', 'configure db-0 cluster-announce-hostname=primary-5', 'settled'],
    ],
    ['stays where it is the highest already', { terms: { 0: 9, 1: 8 } }, ['settled']],
    [
      'is written while one sentinel of three has not heard of the change: before anything can happen to all nodes at once',
      { terms: {}, sentinels: { 2: { primary: '10.0.0.1', epoch: 0 } } },
      ['data-db-0: term undefined > 1', 'configure db-0 cluster-announce-hostname=primary-1', 'wait MembersNotReady'],
    ],
    [
      'is not written on the word of a minority: it may have slept through a failover',
      { terms: {}, sentinels: { 1: 'silent', 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'is written in a hand-over that the sentinels have yet to notice',
      { primary: 1, terms: { 0: 1 }, sentinels: { all: { primary: '10.0.0.0', failingOver: true } } },
      ['data-db-1: term undefined > 2', 'configure db-1 cluster-announce-hostname=primary-2', 'wait MembersNotReady'],
    ],
    [
      'is written where no sentinel remembers anything',
      { primary: 1, terms: {}, sentinels: { all: 'forgot' } },
      [
        'data-db-1: term undefined > 1',
        'monitor db-sentinel-0 -> db-1',
        'monitor db-sentinel-1 -> db-1',
        'monitor db-sentinel-2 -> db-1',
        'configure db-1 cluster-announce-hostname=primary-1',
        'wait Repairing',
      ],
    ],
    [
      'is what its volume says, where Sentinel made it primary while the operator was away',
      { primary: 1, terms: { 0: 2 }, nodes: { 0: termed('replica', 5), 1: termed('primary', 5) } },
      ['data-db-1: term undefined > 5', 'settled'],
    ],
    [
      'is more than any volume has heard of',
      { terms: { 0: 2 }, nodes: { 2: termed('replica', 6) } },
      ['data-db-0: term 2 > 7', 'configure db-0 cluster-announce-hostname=primary-7', 'settled'],
    ],
    [
      'is told to the volume of a node whose pod was started before there were terms',
      { terms: { 0: 4 }, nodes: { 0: termed('primary', 1) } },
      ['configure db-0 cluster-announce-hostname=primary-4', 'settled'],
    ],
    ['needs a claim', { spec: { storage: { ephemeral: true } } }, ['settled']],
    [
      'is kept by a node alone as well',
      { spec: { mode: 'Standalone', replicas: 1 }, terms: {} },
      ['data-db-0: term undefined > 1', 'settled'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('the choice of a person', () => {
  const chosen = { metadata: { annotations: { [choiceAnnotation]: 'db-0' } } };

  it.each<PlanRow>([
    [
      'is taken back after the term is written: who dies in between finds one of them',
      { ...chosen, terms: { 1: 1 } },
      [
        'data-db-0: term undefined > 2',
        'db: metadata.annotations[clusterwright.dev/choose-primary] db-0 > undefined',
        'configure db-0 cluster-announce-hostname=primary-2',
        'settled',
      ],
    ],
    [
      'is taken back by a node alone as well, which has no sentinels',
      { ...chosen, spec: { mode: 'Standalone', replicas: 1 } },
      ['db: metadata.annotations[clusterwright.dev/choose-primary] db-0 > undefined', 'settled'],
    ],
    [
      'stands as long as the term may not be written',
      { ...chosen, terms: { 1: 1 }, sentinels: { 1: 'silent', 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('the address on the claim of each node', () => {
  it.each<PlanRow>([
    [
      'is written for all that answer once the sentinels name the primary',
      { addresses: {}, nodes: { 2: 'silent' } },
      ['data-db-0: address undefined > 10.0.0.0', 'data-db-1: address undefined > 10.0.0.1', 'wait MembersNotReady'],
    ],
    [
      'follows a pod that was replaced',
      { addresses: { 0: '10.0.0.0', 1: '10.8.0.1', 2: '10.0.0.2' } },
      ['data-db-1: address 10.8.0.1 > 10.0.0.1', 'settled'],
    ],
    [
      'is taken from a node that was scaled away when another one has it by now',
      { keptClaims: [3, 4], addresses: { 0: '10.0.0.0', 1: '10.0.0.1', 2: '10.0.0.2', 3: '10.0.0.2', 4: '10.8.0.4' } },
      ['data-db-3: address 10.0.0.2 > undefined', 'settled'],
    ],
    [
      'stays as it was while the sentinels name an address that is gone: it is the only one that tells whose it was',
      { addresses: { 0: '10.8.0.0' }, sentinels: { all: { primary: '10.8.0.0', replicas: [] } } },
      [
        'monitor db-sentinel-0 -> db-0 (replace)',
        'monitor db-sentinel-1 -> db-0 (replace)',
        'monitor db-sentinel-2 -> db-0 (replace)',
        'wait Repairing',
      ],
    ],
    [
      'is written for one that was added and still copies: it may load the copy, and acknowledge, where nobody sees it',
      {
        size: 4,
        spec: { replicas: 4 },
        addresses: { 0: '10.0.0.0', 1: '10.0.0.1', 2: '10.0.0.2' },
        nodes: { 3: { follows: '10.0.0.0', linkUp: false, empty: true, failoverEligible: false, offset: 0 } },
      },
      ['data-db-3: address undefined > 10.0.0.3', 'wait MembersNotReady'],
    ],
    [
      'is not written on the word of a minority',
      { addresses: {}, sentinels: { 1: 'silent', 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});
