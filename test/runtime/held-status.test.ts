/** What a cluster says while its rollout has to wait: phase and conditions from one judgement, with the engine of Redis. */
import { describe, expect, it } from 'vitest';
import type { ClusterStatus } from '../../src/api/status.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { situationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import { wait } from '../../src/plan/plan.ts';
import { awaited } from '../../src/runtime/held-status.ts';
import { type HeldBack, heldBack, type Waits } from '../support/held-back.ts';
import { redisWorld, type Story } from '../support/redis-situation.ts';

const at = Date.parse('2030-06-01T12:00:00Z');
const { resource } = redisKind;

function held(waits: Waits, story: Story): HeldBack {
  const { cluster, children, observed } = redisWorld(story);
  const situation = situationOf(cluster, children, observed);
  const plan = planRedis(situation);
  return heldBack(waits, cluster, children, { plan, status: redisStatus(situation, plan) }, { at, resource });
}

/** `['Ready', 'Ready True AllMembersReady', ...]`. */
function told(waits: Waits, story: Story): string[] {
  const { status } = held(waits, story);
  return [
    status.phase ?? 'none',
    ...status.conditions.map(({ type, status: state, reason }) => `${type} ${state} ${reason}`),
  ];
}

const said = (more: ClusterStatus): ClusterStatus => ({
  initialized: true,
  phase: 'Ready',
  observedGeneration: 1,
  ...more,
});
const change: Story = { spec: { config: { 'io-threads': 2 } }, before: {} };
const ready = (reason: string): string[] => [
  'Ready',
  `Ready True ${reason}`,
  `Progressing False ${reason}`,
  `Degraded False ${reason}`,
];
const updating = [
  'Updating',
  'Ready False WaitingForRollout',
  'Progressing True WaitingForRollout',
  'Degraded False WaitingForRollout',
  'Reconciling True WaitingForRollout',
];

describe('a rollout that waits', () => {
  it.each<readonly [string, Waits, Story, string[]]>([
    ['for a window leaves the cluster ready', 'window', { ...change, status: said({}) }, ready('WaitingForWindow')],
    [
      'for a window leaves it ready, also where somebody has just changed the spec',
      'window',
      { ...change, status: said({ observedGeneration: 0 }) },
      ready('WaitingForWindow'),
    ],
    ['for its turn leaves the cluster ready', 'turn', { ...change, status: said({}) }, ready('WaitingForRollout')],
    [
      'for its turn is an update, where somebody has just changed the spec',
      'turn',
      { ...change, status: said({ observedGeneration: 0 }) },
      updating,
    ],
    [
      'for its turn stays an update once that has been said',
      'turn',
      { ...change, status: said({ phase: 'Updating' }) },
      updating,
    ],
    [
      'is not what matters while a member is away',
      'window',
      { ...change, nodes: { 1: 'silent' }, pods: { 'db-1': 'unready' }, status: said({}) },
      [
        'Degraded',
        'Ready False MembersNotReady',
        'Progressing True MembersNotReady',
        'Degraded True MembersNotReady',
        'Reconciling True MembersNotReady',
      ],
    ],
  ])('%s', (_, waits, story, words) => expect(told(waits, story)).toEqual(words));

  it('says when the window opens, in the status and in the plan', () => {
    const { plan, status } = held('window', { ...change, status: said({}) });
    const message =
      'pods restart for the changes in the maintenance window that opens at 2030-06-01T22:00:00Z; at once with the annotation clusterwright.dev/maintenance-now';
    expect(plan).toMatchObject({ outcome: { state: 'wait', reason: 'WaitingForWindow', message } });
    expect(new Set(status.conditions.map((condition) => condition.message))).toEqual(new Set([message]));
  });

  it.each<readonly [string, Story]>([
    ['with other fields', change],
    ['with fewer fields', { spec: {}, before: { scheduling: { nodeSelector: { disk: 'ssd' } } } }],
  ])('writes no template %s', (_, story) => {
    const { plan } = held('window', { ...story, status: said({}) });
    expect(plan.outcome).toMatchObject({ reason: 'WaitingForWindow' });
    expect(plan.steps.filter((step) => 'object' in step && step.object.kind === 'StatefulSet')).toEqual([]);
  });

  it('is told after what matters more', () => {
    const story: Story = { ...change, nodes: { 1: 'silent' }, pods: { 'db-1': 'unready' }, status: said({}) };
    const { plan, status } = held('window', story);
    const message = expect.stringMatching(/db-1.*; pods restart for the changes in the maintenance window/) as string;
    expect(plan.outcome).toMatchObject({ reason: 'MembersNotReady', message });
    expect(status.conditions.find(({ type }) => type === 'Ready')?.message).toEqual(message);
  });

  it('keeps the other conditions of the cluster', () => {
    const { cluster, children, observed } = redisWorld({ ...change, status: said({}) });
    const situation = situationOf(cluster, children, observed);
    const plan = planRedis(situation);
    const status = redisStatus(situation, plan);
    const warning = { type: 'SpecWarning', status: 'True', reason: 'X', message: 'x' } as const;
    const more = { plan, status: { ...status, conditions: [...status.conditions, warning] } };
    expect(heldBack('window', cluster, children, more, { at, resource }).status.conditions).toContainEqual(warning);
  });
});

it('a rollout that others wait for says so in its plan and in its conditions', () => {
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'MembersNotReady', message: 'db-2 has no image' },
    { type: 'SpecWarning', status: 'True', reason: 'X', message: 'x' },
  ] as const;
  const plan = { steps: [], outcome: wait('MembersNotReady', 'db-2 has no image') };
  const [said, status] = awaited(plan, { phase: 'Updating', conditions });
  const message = 'db-2 has no image; other clusters wait for this one to end its rollout';
  expect(said.outcome).toMatchObject({ message });
  expect(status.conditions.map((condition) => condition.message)).toEqual([message, 'x']);
});
