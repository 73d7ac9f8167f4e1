import { describe, expect, it } from 'vitest';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { wait } from '../../../src/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story, termed } from '../../support/redis-situation.ts';

const nobody: Story = { primary: 'nobody' };
const fresh: Story = { ...nobody, nodes: { all: 'blank' }, terms: {} };
const twoClaim: Story = {
  ...nobody,
  terms: { 0: 2, 1: 2 },
  nodes: { 0: { role: 'primary' }, 1: { role: 'primary' } },
};
const initialized = { initialized: true } as const;
const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });

describe('the first bootstrap', () => {
  it.each<PlanRow>([
    ['every volume is blank: the first node is promoted', fresh, ['promote db-0', 'wait Promoting']],
    [
      'the choice of a person does not matter while every volume is blank',
      { ...fresh, ...choosing('db-2') },
      ['promote db-0', 'wait Promoting'],
    ],
    ['no node answers yet', { ...fresh, nodes: { all: 'silent' } }, ['wait MembersStarting']],
    [
      'R4: a silent node may hold data, so the blank ones wait',
      { ...fresh, nodes: { all: 'blank', 2: 'silent' } },
      ['wait MembersStarting'],
    ],
    ['R4: so may one whose pod is missing', { ...fresh, nodes: { all: 'blank', 0: 'gone' } }, ['wait MembersStarting']],
    [
      'G8: every volume blank but the cluster has held data: blocked',
      { ...fresh, terms: { 1: 4 } },
      ['blocked VolumesLost'],
    ],
    [
      'G8: every claim is new, and the status remembers that there was a database',
      { ...fresh, status: initialized },
      ['blocked VolumesLost'],
    ],
    [
      'G8: the claim that remembers belongs to a node that was scaled away',
      { ...fresh, keptClaims: [3], terms: { 3: 1 } },
      ['blocked VolumesLost'],
    ],
    [
      'a person who names a pod and its UID wants the cluster to begin anew, without data',
      { ...fresh, terms: { 1: 4 }, ...choosing('db-1:uid-Pod-db-1') },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'a name alone may have stood in a manifest since the last loss',
      { ...fresh, terms: { 1: 4 }, ...choosing('db-1') },
      ['blocked VolumesLost'],
    ],
    [
      'so may the UID of a pod that is gone',
      { ...fresh, terms: { 1: 4 }, ...choosing('db-1:uid-of-another') },
      ['blocked VolumesLost'],
    ],
    [
      'a cluster that keeps nothing begins anew when all of it was lost',
      { ...fresh, spec: { storage: { ephemeral: true } }, status: initialized },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'G8: blank volumes, but a sentinel knows a primary',
      { ...fresh, sentinels: { 1: { primary: '10.8.0.1', replicas: [] } }, terms: { 1: 1 } },
      ['blocked VolumesLost'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

it.each<readonly [story: string, pods: Story['pods'], recheckMs: number | undefined]>([
  ['asked again soon while a pod runs', { 'db-1': 'unschedulable', 'db-2': 'unschedulable' }, 500],
  [
    'not asked while none does: the watch of the pods will tell',
    { 'db-0': 'unschedulable', 'db-1': 'unschedulable', 'db-2': 'unschedulable' },
    undefined,
  ],
])('nodes of which none answers are %s', (_, pods, recheckMs) => {
  const { cluster, children, observed } = redisWorld({
    nodes: { all: 'silent' },
    sentinels: { all: 'silent' },
    pods: pods ?? {},
  });
  const { outcome } = planRedis(situationOf(cluster, children, observed));
  expect(outcome).toEqual(wait('MembersStarting', expect.stringMatching(/^no Redis node answers yet/), recheckMs));
  expect(outcome).toMatchObject({ message: expect.stringContaining('; db-2 cannot be scheduled') });
});

it.each<readonly [story: string, situation: Story, message: string]>([
  [
    'that nobody answers',
    { ...nobody, nodes: { all: 'silent' }, sentinels: { all: 'silent' } },
    'no Redis node answers yet',
  ],
  [
    'that several volumes are blank',
    { ...fresh, terms: { 1: 4 } },
    'every volume is blank, though this cluster has held data; restore a backup into a new cluster, or, to begin anew without data, set the annotation clusterwright.dev/choose-primary to db-0:uid-Pod-db-0',
  ],
])('a person is told %s', (_, story, message) => {
  const { cluster, children, observed } = redisWorld(story);
  expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({ message });
});

const restarted: Story = { ...nobody, terms: { 0: 1, 1: 2, 2: 3 } };

describe('sentinels that have forgotten everything', () => {
  it.each<PlanRow>([
    ['all pods restarted: the claim with the highest term is promoted', restarted, ['promote db-2', 'wait Promoting']],
    [
      'G8: the StatefulSet and the status were deleted: data is found again',
      { ...restarted, children: (all) => all.filter(({ kind }) => kind !== 'StatefulSet') },
      ['create StatefulSet db', 'create StatefulSet db-sentinel', 'promote db-2', 'wait Promoting'],
    ],
    [
      'the last primary does not answer yet: nobody else is taken',
      { ...restarted, nodes: { 2: 'silent' } },
      ['wait PrimaryStarting'],
    ],
    ['the last primary has no pod yet', { ...restarted, nodes: { 2: 'gone' } }, ['wait PrimaryStarting']],
    [
      'R1: the last primary came back on a blank volume: nobody is promoted by itself',
      { ...restarted, nodes: { 2: 'blank' } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'R1: a person chooses a replica that holds the data',
      { ...restarted, ...choosing('db-1'), nodes: { 2: 'blank' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the last primary holds less than it had: its copy was not written down',
      { ...restarted, nodes: { 2: { failoverEligible: false } } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'where no node holds all that it had, a person chooses among them',
      { ...restarted, ...choosing('db-1:uid-Pod-db-1'), nodes: { all: { failoverEligible: false } } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'by its name and UID: a name may have stood in a manifest since before',
      { ...restarted, ...choosing('db-1'), nodes: { all: { failoverEligible: false } } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'not while one of them does not answer',
      { ...restarted, ...choosing('db-1:uid-Pod-db-1'), nodes: { all: { failoverEligible: false }, 0: 'silent' } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'nor where another holds all that it had',
      {
        ...restarted,
        ...choosing('db-1:uid-Pod-db-1'),
        nodes: { 1: { failoverEligible: false }, 2: { failoverEligible: false } },
      },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'R1: a person cannot choose a blank node',
      { ...restarted, ...choosing('db-2'), nodes: { 2: 'blank' } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'a person cannot choose a node that does not answer',
      { ...restarted, ...choosing('db-0'), nodes: { 0: 'silent', 2: 'blank' } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'one of three sentinels answers: the others may know the primary',
      { ...restarted, ...choosing('db-1'), sentinels: { 0: 'silent', 1: 'gone' } },
      ['wait SentinelsStarting'],
    ],
    ['two of three are a majority', { ...restarted, sentinels: { 0: 'silent' } }, ['promote db-2', 'wait Promoting']],
    [
      'no claim says anything, the status does',
      { ...nobody, terms: {}, status: { primary: 'db-1' } },
      ['promote db-1', 'wait Promoting'],
    ],
    ['nothing says anything', { ...nobody, terms: {} }, ['blocked PrimaryUnknown']],
    [
      'nothing says anything, but a person does',
      { ...nobody, ...choosing('db-0'), terms: {} },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'the claims and the status contradict each other',
      { ...restarted, status: { primary: 'db-0' }, nodes: { 2: termed('replica', 2) } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'the status is older than what claim and volume of the last primary say',
      { ...restarted, status: { primary: 'db-0' } },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'the volume of the last primary by the claims tells of an earlier term only: it is no proof against the status',
      { ...restarted, status: { primary: 'db-0' }, nodes: { 2: termed('primary', 2) } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'the nodes are electable but hold no key: that is data, too',
      { ...restarted, nodes: { all: { empty: true } } },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'some nodes are blank, one holds the data',
      { ...restarted, nodes: { 0: 'blank', 1: 'blank' } },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'the last primary was scaled away meanwhile: its volume may be ahead of all that are left',
      { ...restarted, spec: { replicas: 2 }, keptClaims: [2] },
      ['blocked PrimaryScaledAway'],
    ],
    [
      'a node that was scaled away had been primary before that',
      { ...restarted, keptClaims: [3], terms: { 1: 4, 3: 3 } },
      ['promote db-1', 'wait Promoting'],
    ],
    ['two claims have the highest term', { ...restarted, terms: { 0: 2, 2: 2 } }, ['blocked PrimaryUnknown']],
    [
      'R4: a node takes writes, the later primary by the record is away: either may hold more',
      { ...restarted, nodes: { 0: { role: 'primary' }, 2: 'silent' } },
      ['blocked PrimaryContested'],
    ],
    [
      'R4: the later one is back as well, and nobody can say which of them was elected last',
      { ...restarted, nodes: { 0: { role: 'primary' } } },
      ['blocked PrimaryContested'],
    ],
    [
      'several nodes claim to be primary',
      { ...nobody, terms: {}, nodes: { 0: { role: 'primary' }, 1: { role: 'primary' } } },
      ['blocked PrimaryContested'],
    ],
    [
      'of equal terms, and a person has named one: it is primary, and the sentinels are told first',
      { ...twoClaim, ...choosing('db-1') },
      expect.arrayContaining(['monitor db-sentinel-0 -> db-1', 'wait Repairing']),
    ],
    ['or one that claims nothing', { ...twoClaim, ...choosing('db-2') }, ['promote db-2', 'wait Promoting']],
    [
      'not while too few sentinels answer to know whether one of them knows',
      { ...twoClaim, sentinels: { 0: 'silent', 1: 'silent' } },
      ['wait PrimaryContested'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

it('a primary that may not be elected is asked again: it may only be behind another that does not come back', () => {
  const { cluster, children, observed } = redisWorld({
    ...nobody,
    terms: { 2: 1 },
    nodes: { 2: { failoverEligible: false } },
    sentinels: { all: 'forgot' },
  });
  expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
    reason: 'PrimaryVolumeLost',
    recheckMs: 10_000,
  });
});
