/** Everybody has restarted, no sentinel remembers, and the operator was away before: the volumes tell who was primary last. */

import { describe, expect, it } from 'vitest';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { wait } from '../../../src/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story, termed } from '../../support/redis-situation.ts';

/** The operator knew of db-0 in term 1; Sentinel made db-1 primary while it was away. */
const away: Story = {
  primary: 'nobody',
  terms: { 0: 1 },
  status: { initialized: true, primary: 'db-0' },
  nodes: { 0: termed('replica', 2), 1: termed('primary', 2), 2: termed('replica', 2) },
};
/** The operator was there throughout. */
const present: Story = {
  ...away,
  nodes: { 0: termed('primary', 1), 1: termed('replica', 1), 2: termed('replica', 1) },
};
const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });

describe('after a power failure of all', () => {
  it.each<PlanRow>([
    [
      'the last primary by the claims is promoted where no volume knows better',
      present,
      ['promote db-0', 'wait Promoting'],
    ],
    ['the last one by the volumes, where the operator was away', away, ['promote db-1', 'wait Promoting']],
    [
      'also where the former primary has not heard of it',
      { ...away, nodes: { ...away.nodes, 0: termed('primary', 1), 2: termed('replica', 1) } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'nobody, where that one does not answer and another has heard of it',
      { ...away, nodes: { ...away.nodes, 1: 'silent' } },
      ['wait PrimaryStarting'],
    ],
    [
      'unless a person chooses',
      { ...away, ...choosing('db-2'), nodes: { ...away.nodes, 1: 'silent' } },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'nobody, where its volume is blank',
      { ...away, nodes: { ...away.nodes, 1: 'blank' } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'nobody, where its volume does not hold what it had',
      { ...away, nodes: { ...away.nodes, 1: { ...termed('primary', 2), failoverEligible: false } } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'nobody, where the last one by the claims was made a replica, and nobody says whose',
      { ...away, nodes: { 0: termed('replica', 1), 1: termed('replica', 1), 2: termed('replica', 1) } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'nobody, where two were primary in the same term',
      { ...away, nodes: { ...away.nodes, 2: termed('primary', 2) } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'the last one by the claims, where one is silent: alone it would have taken no writes',
      { ...present, nodes: { ...present.nodes, 2: 'silent' } },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'nobody, where two are silent: one of them may have been primary with the other',
      { ...present, nodes: { ...present.nodes, 1: 'silent', 2: 'silent' } },
      ['wait PrimaryStarting'],
    ],
    [
      'nobody of two nodes, where the other is silent: it may have taken writes alone',
      { ...present, spec: { replicas: 2 }, nodes: { 0: termed('primary', 1), 1: 'silent' } },
      ['wait PrimaryStarting'],
    ],
    [
      'the last one by the claims, on volumes from before there were terms',
      { primary: 'nobody', terms: {}, status: { primary: 'db-2' } },
      ['promote db-2', 'wait Promoting'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it.each<readonly [story: string, nodes: Story['nodes'], message: string]>([
    [
      'may have been',
      { ...present.nodes, 1: 'silent', 2: 'silent' },
      'waiting for db-1, db-2: one that does not answer may have been primary after db-0; to go on without, name a pod in the annotation clusterwright.dev/choose-primary',
    ],
    [
      'was',
      { ...away.nodes, 1: 'silent' },
      'waiting for db-1: one that does not answer was, as the volume of db-0 tells, primary after db-0; to go on without, name a pod in the annotation clusterwright.dev/choose-primary',
    ],
  ])('a person is told that a silent node %s primary later', (_, nodes, message) => {
    const { cluster, children, observed } = redisWorld({ ...away, nodes: nodes ?? {} });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toEqual(wait('PrimaryStarting', message, 500));
  });

  it('an old primary that takes writes is not taken for the last one', () => {
    const nodes = { ...away.nodes, 0: { ...termed('primary', 1), role: 'primary' as const, linkUp: true } };
    expect(planned({ ...away, nodes })).toEqual(['blocked PrimaryContested']);
  });
});
