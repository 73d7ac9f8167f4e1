import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { planForgetting } from '../../../src/engines/redis/plan/repair.ts';
import { actionWords, type PlanRow, planned } from '../../support/plan-words.ts';
import { knownPeers, knownReplicas, redisWorld, type Story } from '../../support/redis-situation.ts';

const isPrimary = { role: 'primary' } as const;
const lost = { seesPrimary: false } as const;

describe('with the primary known', () => {
  it.each<PlanRow>([
    ['nothing is out of line: nothing is done', {}, ['settled']],
    [
      'the first node has just been promoted: sentinels are told, replicas assigned',
      { nodes: { 1: 'blank', 2: 'blank' }, sentinels: { all: 'forgot' } },
      [
        'monitor db-sentinel-0 -> db-0',
        'monitor db-sentinel-1 -> db-0',
        'monitor db-sentinel-2 -> db-0',
        'follow db-1 -> db-0',
        'follow db-2 -> db-0',
        'wait Repairing',
      ],
    ],
    [
      'R4: an isolated old primary returns: told to follow, never promoted',
      { primary: 1, nodes: { 0: isPrimary } },
      ['follow db-0 -> db-1', 'wait Repairing'],
    ],
    [
      'a replica that follows another is told',
      { nodes: { 2: { follows: '10.0.0.1' } } },
      ['follow db-2 -> db-0', 'wait Repairing'],
    ],
    [
      'R4: not while a failover runs: Sentinel does it',
      { nodes: { 2: { follows: '10.0.0.1' } }, sentinels: { 1: { failingOver: true } } },
      ['wait MembersNotReady'],
    ],
    [
      'R4: nor while one sentinel names another node',
      { nodes: { 2: { follows: '10.0.0.1' } }, sentinels: { 0: { primary: '10.0.0.1', epoch: 0 } } },
      ['wait MembersNotReady'],
    ],
    [
      'R4: nor on the word of a minority, since the node may hold more',
      { nodes: { 2: { follows: '10.0.0.1' } }, sentinels: { 0: 'silent', 1: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'R4: nor is a second primary',
      { nodes: { 2: isPrimary }, sentinels: { 0: 'silent', 1: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'one that follows nobody, while the sentinels that run and are silent may elect another: not yet',
      { nodes: { 2: 'unassigned' }, sentinels: { 0: 'silent', 1: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'too few sentinels run for an election, which the node itself cannot know: it would leave again',
      { nodes: { 2: 'unassigned' }, sentinels: { 0: 'gone', 1: 'gone' } },
      ['wait MembersNotReady'],
    ],
    [
      'nor does a sentinel that watches nobody elect anybody',
      { nodes: { 2: 'unassigned' }, sentinels: { 0: 'forgot', 1: 'silent' } },
      ['monitor db-sentinel-0 -> db-0', 'follow db-2 -> db-0', 'wait Repairing'],
    ],
    [
      'R4: the primary answers the controller and has not answered two of three sentinels lately: nobody joins it',
      { nodes: { 1: 'unassigned', 2: { follows: '10.0.0.1' } }, sentinels: { 0: lost, 1: lost } },
      ['wait MembersNotReady'],
    ],
    [
      'R4: one sentinel alone that has lost it elects nobody',
      { nodes: { 1: 'unassigned' }, sentinels: { 0: lost } },
      ['follow db-1 -> db-0', 'wait Repairing'],
    ],
    [
      'R4: two of three sentinels are a majority',
      { nodes: { 2: { follows: '10.0.0.1' } }, sentinels: { 0: 'silent' } },
      ['follow db-2 -> db-0', 'wait Repairing'],
    ],
    [
      'R7: the primary is being stopped, and another claims the role: its successor is told nothing',
      { pods: { 'db-0': 'terminating' }, nodes: { 1: isPrimary } },
      ['wait HandingOver'],
    ],
    [
      'another than the primary is being stopped',
      { pods: { 'db-1': 'terminating' }, nodes: { 2: { follows: '10.0.0.1' } } },
      ['follow db-2 -> db-0', 'wait Repairing'],
    ],
    [
      'also where its pod comes before that of the primary',
      { primary: 1, pods: { 'db-0': 'terminating' }, nodes: { 2: { follows: '10.0.0.0' } } },
      ['follow db-2 -> db-1', 'wait Repairing'],
    ],
    [
      'R4: two of three sentinels have forgotten: one alone confirms nobody for a node that may hold more',
      { nodes: { 1: 'unassigned', 2: { follows: '10.0.0.1' } }, sentinels: { 0: 'forgot', 1: 'forgot' } },
      ['monitor db-sentinel-0 -> db-0', 'monitor db-sentinel-1 -> db-0', 'follow db-1 -> db-0', 'wait Repairing'],
    ],
    [
      'R4: nor for a second primary',
      { nodes: { 2: isPrimary }, sentinels: { 0: 'forgot', 1: 'forgot' } },
      ['monitor db-sentinel-0 -> db-0', 'monitor db-sentinel-1 -> db-0', 'wait Repairing'],
    ],
    ['a node that is silent is left alone', { nodes: { 2: 'silent' } }, ['wait MembersNotReady']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('a sentinel', () => {
  it.each<PlanRow>([
    [
      'R6: has come back without memory: told to watch',
      { sentinels: { 1: 'forgot' } },
      ['monitor db-sentinel-1 -> db-0', 'wait Repairing'],
    ],
    [
      'R6: watches an address that no pod has: told to watch the primary instead',
      { sentinels: { 1: { primary: '10.8.0.1', epoch: 0 } } },
      ['monitor db-sentinel-1 -> db-0 (replace)', 'wait Repairing'],
    ],
    [
      'watches another living node, and the others know better: it learns from them',
      { sentinels: { 1: { primary: '10.0.0.1', epoch: 0 } } },
      ['wait MembersNotReady'],
    ],
    [
      'and all the others, too, name the old primary of a hand-over: Sentinel is about to notice',
      {
        primary: 1,
        nodes: { 0: { role: 'replica', follows: '10.0.0.1' } },
        sentinels: { all: { primary: '10.0.0.0', failingOver: true } },
        terms: { 0: 1, 1: 2 },
      },
      ['wait MembersNotReady'],
    ],
    [
      'one names another under the same epoch: two failovers were asked for at once, and it never learns',
      { sentinels: { 2: { primary: '10.0.0.1' } } },
      ['monitor db-sentinel-2 -> db-0 (replace)', 'wait Repairing'],
    ],
    [
      'one names the old primary of a hand-over under a newer epoch: the others will hear of it, or it of them',
      {
        primary: 1,
        nodes: { 0: { role: 'replica', follows: '10.0.0.1' } },
        sentinels: { 2: { primary: '10.0.0.0', epoch: 2 } },
        terms: { 0: 1, 1: 2 },
      },
      ['wait MembersNotReady'],
    ],
    [
      'one is failing over to an address that is gone: it waits for ever, and is told',
      {
        sentinels: {
          2: {
            primary: '10.8.0.1',
            failingOver: true,
            replicas: [{ address: '10.8.0.2', priority: 100, down: true }],
          },
        },
      },
      ['monitor db-sentinel-2 -> db-0 (replace)', 'wait Repairing'],
    ],
    [
      'as before, but none is failing over: nobody would tell them',
      {
        primary: 1,
        nodes: { 0: { role: 'replica', follows: '10.0.0.1' } },
        sentinels: { all: { primary: '10.0.0.0' } },
        terms: { 0: 1, 1: 2 },
      },
      [
        'monitor db-sentinel-0 -> db-1 (replace)',
        'monitor db-sentinel-1 -> db-1 (replace)',
        'monitor db-sentinel-2 -> db-1 (replace)',
        'wait Repairing',
      ],
    ],
    [
      'is failing over from an address that is gone: it is left to it',
      { sentinels: { 1: { primary: '10.8.0.1', epoch: 0, failingOver: true } } },
      ['wait MembersNotReady'],
    ],
    ['is silent: left alone', { sentinels: { 1: 'silent' } }, ['wait MembersNotReady']],
    [
      'has other settings than the spec',
      { spec: { sentinel: { downAfter: '5s' } }, sentinels: { 1: { settings: sentinelSettings('3000') } } },
      ['tune db-sentinel-1 down-after-milliseconds=5000', 'wait Repairing'],
    ],
    [
      'was told of the primary and not of the password: it has spoken to nobody',
      { sentinels: { 2: { authenticated: false, primaryDown: true } } },
      ['tune db-sentinel-2', 'wait Repairing'],
    ],
    [
      'finds the primary silent, but has spoken to it before: the password is right',
      { sentinels: { 2: { primaryDown: true } } },
      ['settled'],
    ],
    [
      'has just been told of the primary, and has yet to speak to it',
      { sentinels: { 2: { authenticated: false } } },
      ['settled'],
    ],
    [
      'is tuned by the password while the Secret of the identity is not there',
      { observed: { identity: 'missing' }, sentinels: { 1: { settings: sentinelSettings('1') } } },
      ['create Secret db-internal', expect.stringMatching(/^tune db-sentinel-1 .* by the password$/), 'wait Repairing'],
    ],
    [
      'with other settings watches somebody else: one thing at a time',
      { sentinels: { 1: { primary: '10.0.0.1', epoch: 0, settings: {} } } },
      ['wait MembersNotReady'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

function sentinelSettings(downAfter: string): Readonly<Record<string, string>> {
  return {
    quorum: '2',
    'down-after-milliseconds': downAfter,
    'failover-timeout': '15000',
    'parallel-syncs': '2',
  };
}

describe('settings', () => {
  it.each<PlanRow>([
    [
      'that somebody changed by hand are put back, on each node for itself',
      { nodes: { 1: { settings: { timeout: '7', hz: '10' } } } },
      ['configure db-1 timeout=0', 'settled'],
    ],
    [
      'that the spec asks for',
      { spec: { config: { timeout: 60 } }, nodes: { 0: { settings: { timeout: '0' } } } },
      ['configure db-0 timeout=60', 'settled'],
    ],
    [
      'a directive that a server may refuse for ever holds up no rollout',
      {
        spec: { config: { maxclients: 57_679 } },
        nodes: { 0: { settings: { maxclients: '10000' } } },
        pods: { 'db-2': 'outdated' },
      },
      ['configure db-0 maxclients=57679', 'delete Pod db-2', 'wait Restarting'],
    ],
    [
      'nor a scale-in',
      { spec: { config: { maxclients: 57_679 } }, size: 4, nodes: { 0: { settings: { maxclients: '10000' } } } },
      ['apply StatefulSet db: spec.replicas 4 > 3', 'configure db-0 maxclients=57679', 'wait ScalingIn'],
    ],
    [
      'nor what keeps the cluster whole, which comes first',
      {
        spec: { config: { maxclients: 57_679 } },
        nodes: { 0: { settings: { maxclients: '10000' } }, 2: 'unassigned' },
      },
      ['follow db-2 -> db-0', 'configure db-0 maxclients=57679', 'wait Repairing'],
    ],
    [
      'a node alone gets them, too',
      { spec: { mode: 'Standalone', replicas: 1 }, nodes: { 0: { settings: { timeout: '5' } } } },
      ['configure db-0 timeout=0', 'settled'],
    ],
    [
      'an append-only file that was switched off by hand is switched on',
      { nodes: { 1: { settings: { appendonly: 'no' } } } },
      ['configure db-1 appendonly=yes', 'settled'],
    ],
    [
      'times for snapshots that were set by hand are taken away',
      { nodes: { 1: { settings: { save: '3600 1' } } } },
      ['configure db-1 save=', 'settled'],
    ],
    [
      'a replica that holds the data may be elected again',
      { nodes: { 2: { failoverEligible: false } } },
      ['configure db-2 replica-priority=100', 'wait Repairing'],
    ],
    [
      'R1: one that still copies may not',
      { nodes: { 2: { failoverEligible: false, linkUp: false } } },
      ['wait MembersNotReady'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

const deadReplica = { address: '10.8.0.1', priority: 100, down: true };
const deadPeer = { address: '10.8.1.1', down: true };

describe('what sentinels remember of members that are gone', () => {
  it.each<PlanRow>([
    [
      'R6: one sentinel at a time forgets',
      { sentinels: { all: { replicas: [...knownReplicas(1, 2), deadReplica] } } },
      ['forget db-sentinel-0', 'wait Forgetting'],
    ],
    [
      'R6: a peer that is gone still counts as a voter',
      { sentinels: { 1: { peers: [...knownPeers(0, 2), deadPeer] } } },
      ['forget db-sentinel-1', 'wait Forgetting'],
    ],
    [
      'R6: not while the last one that was reset does not see everybody again',
      {
        sentinels: {
          0: { replicas: [], peers: [] },
          1: { replicas: [...knownReplicas(1, 2), deadReplica] },
          2: { replicas: [...knownReplicas(1, 2), deadReplica] },
        },
      },
      ['wait MembersNotReady'],
    ],
    [
      'a server from elsewhere that copies from the primary is not forgotten, since that names it again',
      {
        nodes: { 0: { replicas: ['10.0.0.1', '10.0.0.2', deadReplica.address] } },
        sentinels: { all: { replicas: [...knownReplicas(1, 2), deadReplica] } },
      },
      ['settled'],
    ],
    [
      'one that is down and has a pod is not gone',
      { sentinels: { all: { replicas: [...knownReplicas(1), { ...deadReplica, address: '10.0.0.2' }] } } },
      ['settled'],
    ],
    [
      'a peer that is down and has a pod is not gone',
      { sentinels: { 0: { peers: [...knownPeers(1), { ...deadPeer, address: '10.0.1.2' }] } } },
      ['settled'],
    ],
    [
      'one that is gone, but not yet known to be down',
      { sentinels: { all: { replicas: [...knownReplicas(1, 2), { ...deadReplica, down: false }] } } },
      ['settled'],
    ],
    [
      'not while a sentinel has yet to learn of the primary',
      { sentinels: { 0: { replicas: [...knownReplicas(1, 2), deadReplica] }, 2: { primary: '10.0.0.1', epoch: 0 } } },
      ['wait MembersNotReady'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

it.each<readonly [string, Story, string]>([
  [
    'the settings of a sentinel',
    { spec: { sentinel: { downAfter: '5s' } }, sentinels: { 1: { settings: sentinelSettings('3000') } } },
    'set down-after-milliseconds 5000 on db-sentinel-1',
  ],
  [
    'the password of a sentinel',
    { sentinels: { 2: { authenticated: false, primaryDown: true } } },
    'set the password on db-sentinel-2',
  ],
  [
    'the directives of a node',
    { nodes: { 1: { settings: { timeout: '7', 'tcp-keepalive': '5' } } } },
    'set timeout 0, tcp-keepalive 300 on db-1',
  ],
])('a plan tells in words of %s', (_, story, summary) => {
  const { cluster, children, observed } = redisWorld(story);
  const { steps } = planRedis(situationOf(cluster, children, observed));
  expect(steps).toContainEqual(expect.objectContaining({ summary }));
});

/** The rule by itself, whatever else the plan looks at. */
function forgotten(story: Story): string | undefined {
  const { cluster, children, observed } = redisWorld(story);
  const situation = situationOf(cluster, children, observed);
  const { primary } = situation.topology;
  if (primary === undefined) throw new Error('the story has no primary');
  const step = planForgetting(situation, primary);
  return step === undefined ? undefined : actionWords(step.action);
}

describe('a sentinel is made to forget', () => {
  const remembering = { replicas: [...knownReplicas(1, 2), deadReplica] };
  const blind = { replicas: [], peers: [] };

  it.each<readonly [story: string, situation: Story, forgotten: string | undefined]>([
    ['where the others see everything', { sentinels: { 0: remembering } }, 'forget db-sentinel-0'],
    [
      'where one other is enough for a majority',
      { sentinels: { 0: remembering, 2: 'silent' } },
      'forget db-sentinel-0',
    ],
    ['not where one of them is blind', { sentinels: { 0: remembering, 1: blind } }, undefined],
    ['not where it would leave no majority', { sentinels: { 0: remembering, 1: 'silent', 2: 'silent' } }, undefined],
    ['not in the middle of a failover', { sentinels: { 0: remembering, 2: { failingOver: true } } }, undefined],
    [
      'not where it names somebody else itself',
      { sentinels: { 0: { ...remembering, primary: '10.0.0.1', epoch: 0 } } },
      undefined,
    ],
    [
      'not where another names somebody else',
      { sentinels: { 0: remembering, 2: { primary: '10.0.0.1', epoch: 0 } } },
      undefined,
    ],
  ])('R6: %s', (_, story, expected) => expect(forgotten(story)).toBe(expected));
});
