/** The primary ended with its machine, and replicas kept running. */

import { describe, expect, it } from 'vitest';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import type { DataNode, KnownReplica, SentinelView } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { knownReplicas, redisWorld, type Story, termed } from '../../support/redis-situation.ts';

/** The node has never had a link: its volume says no term. */
function withoutTerm(ordinal: number, story: Story): Story {
  const data = redisWorld(story).observed.data.map((node) => {
    if (node.state === 'silent' || node.pod !== `db-${ordinal}`) return node;
    const { term, ...rest } = node;
    return rest;
  });
  return { ...story, observed: { data } };
}

const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });

describe('the machine of the primary and of two sentinels was without power, and is back', () => {
  /** The sentinel that kept running has nobody to agree with: who is back knows nobody. */
  const kept: Partial<SentinelView> = {
    primary: '10.8.0.1',
    primaryDown: true,
    replicas: knownReplicas(0, 2),
    peers: [
      { address: '10.8.1.0', down: true },
      { address: '10.8.1.1', down: true },
    ],
    settings: { quorum: '2', 's-down-time': '90000', 'down-after-milliseconds': '3000' },
  };
  const follower: Partial<DataNode> = {
    follows: '10.8.0.1',
    linkUp: false,
    isStale: true,
    offset: 5000,
    ...termed('replica', 1),
  };
  /** The primary takes writes without replicas: that all of them kept running does not tell that one has what it had. */
  const back: Story = {
    primary: 'nobody',
    terms: { 1: 1 },
    addresses: { 0: '10.0.0.0', 1: '10.8.0.1', 2: '10.0.0.2' },
    spec: { config: { 'min-replicas-to-write': 0 } },
    nodes: { 0: follower, 1: { ...termed('primary', 1), offset: 0 }, 2: follower },
    sentinels: { all: { ...kept, replicas: [], peers: [] }, 2: kept },
  };
  const replicas = (change: Partial<KnownReplica>): Partial<SentinelView> => ({
    ...kept,
    replicas: knownReplicas(0, 2).map((replica) => ({ ...replica, ...change })),
  });
  const knowing = (watch: Partial<SentinelView>): Story => ({ ...back, sentinels: { ...back.sentinels, 2: watch } });
  const failover = ['fail over by db-sentinel-2', 'wait FailoverPending'];
  const asBefore = ['promote db-1', 'wait Promoting'];

  it.each<PlanRow>([
    ['a replica that kept running is elected: the primary may lack what it has acknowledged last', back, failover],
    ['it is not back yet', { ...back, nodes: { ...back.nodes, 1: 'silent' } }, failover],
    ['nor has it a pod', { ...back, nodes: { ...back.nodes, 1: 'gone' } }, failover],
    [
      'replicas have yet to notice that it is gone',
      { ...back, nodes: { ...back.nodes, 0: { ...follower, linkUp: true, isStale: false } } },
      failover,
    ],
    [
      'it is not back, and one of them still has the link',
      { ...back, nodes: { 0: { ...follower, linkUp: true, isStale: false }, 1: 'silent', 2: follower } },
      ['wait PrimaryStarting'],
    ],
    ['one kept running, the other one restarted', { ...back, nodes: { ...back.nodes, 0: {} } }, failover],
    [
      'the sentinel knows only the one that kept running',
      { ...knowing({ ...kept, replicas: knownReplicas(2) }), nodes: { ...back.nodes, 0: {} } },
      failover,
    ],
    [
      'it knows only the other one',
      { ...knowing({ ...kept, replicas: knownReplicas(0) }), nodes: { ...back.nodes, 0: {} } },
      asBefore,
    ],
    [
      'one may not be elected',
      { ...back, nodes: { ...back.nodes, 0: { ...follower, failoverEligible: false } } },
      failover,
    ],
    [
      'none may be elected',
      { ...back, nodes: { 0: { ...follower, failoverEligible: false }, 2: { ...follower, failoverEligible: false } } },
      asBefore,
    ],
    ['all have restarted', { ...back, nodes: {} }, asBefore],
    [
      'one of them is being stopped, as where its kubelet is away: until then it may have more',
      { ...back, pods: { 'db-0': 'terminating' } },
      ['wait PrimaryStarting'],
    ],
    ['the sentinel does not know one of them', knowing({ ...kept, replicas: knownReplicas(0) }), asBefore],
    ['nor does it reach one', knowing(replicas({ down: true })), asBefore],
    ['it has yet to hear that they may be elected', knowing(replicas({ priority: 0 })), asBefore],
    ['it does not take the primary for down yet', knowing({ ...kept, primaryDown: false }), asBefore],
    [
      'by an older view it watches another',
      {
        ...back,
        sentinels: { all: { ...kept, epoch: 2, replicas: [], peers: [] }, 2: { ...kept, primary: '10.8.0.9' } },
      },
      asBefore,
    ],
    ['they had the link until the primary went down', knowing(replicas({ unlinkedMs: 120_000 })), failover],
    ['they were long without it', knowing(replicas({ unlinkedMs: 120_001 })), asBefore],
    ['a person has chosen', { ...back, ...choosing('db-1') }, asBefore],
    [
      'no sentinel knows the replicas, and all of them kept running, without which it takes no writes',
      { ...knowing({ ...kept, replicas: [] }), spec: {} },
      ['promote db-0', 'wait Promoting'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  describe('no sentinel can elect one of them, and the operator makes it primary', () => {
    const watching: Story = { ...knowing({ ...kept, replicas: [] }), spec: {} };
    const made = (number: number): Partial<DataNode> => ({
      role: 'primary',
      linkUp: true,
      ...termed('primary', number),
    });

    it.each<readonly [sentinels: string, story: Story]>([
      ['they name the former address', watching],
      ['they have forgotten it', { ...watching, sentinels: { all: 'forgot' } }],
    ])('it goes before the last primary from then on, which is back: %s', (_, story) => {
      const { cluster, children, observed } = redisWorld(story);
      const acts = planRedis(situationOf(cluster, children, observed)).steps.flatMap((step) =>
        step.type === 'act' ? step.action : [],
      );
      expect(acts).toEqual([expect.objectContaining({ type: 'redis.promote', term: 2 })]);
      const next = planned({ ...story, nodes: { ...story.nodes, 0: made(2) } });
      expect(next).toContain('db-0: role undefined > primary');
      expect(next).not.toContain('promote db-1');
    });

    it.each<readonly [state: string, story: Story, plan: readonly string[]]>([
      ['the sentinels name the former address', watching, ['promote db-0', 'wait Promoting']],
      [
        'the sentinels have forgotten it',
        { ...watching, sentinels: { all: 'forgot' } },
        ['promote db-0', 'wait Promoting'],
      ],
      ['one sentinel remembers the replicas', back, ['fail over by db-sentinel-2', 'wait FailoverPending']],
      [
        'the other replica has heard nothing of it, and as much',
        { ...watching, nodes: { ...watching.nodes, 2: { ...follower, offset: 5000 } } },
        ['promote db-0', 'wait Promoting'],
      ],
      [
        'the last primary is not back',
        { ...watching, nodes: { ...watching.nodes, 1: 'silent' } },
        ['promote db-0', 'wait Promoting'],
      ],
    ])('it was told the term, and the operator ended before it was made primary: %s', (_, story, plan) => {
      const told = { ...follower, ...termed('primary', 2) };
      expect(planned({ ...story, nodes: { ...story.nodes, 0: told } })).toEqual(plan);
    });

    it('the last primary keeps its term', () => {
      const { cluster, children, observed } = redisWorld({ ...back, nodes: {} });
      const [act] = planRedis(situationOf(cluster, children, observed)).steps;
      expect(act).toMatchObject({ action: { type: 'redis.promote', node: { pod: 'db-1' } } });
      expect(act).not.toHaveProperty('action.term');
    });
  });
});

describe('sentinels that have forgotten everything, and replicas that kept running when the primary ended', () => {
  const heir: Partial<DataNode> = { follows: '10.8.0.2', linkUp: false, isStale: true, offset: 5000 };
  const back: Story = {
    primary: 'nobody',
    terms: { 0: 1, 1: 2, 2: 3 },
    addresses: { 0: '10.0.0.0', 1: '10.0.0.1', 2: '10.8.0.2' },
    nodes: { 0: heir, 1: { ...heir, offset: 5001 }, 2: { offset: 0 } },
  };
  const asBefore = ['promote db-2', 'wait Promoting'];

  it.each<PlanRow>([
    ['the one with the most is promoted: the primary may lack it', back, ['promote db-1', 'wait Promoting']],
    [
      'of two that have the same, the first',
      { ...back, nodes: { ...back.nodes, 1: heir } },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'it came back on a blank volume',
      { ...back, nodes: { ...back.nodes, 2: 'blank' } },
      ['promote db-1', 'wait Promoting'],
    ],
    ['it is not back', { ...back, nodes: { ...back.nodes, 2: 'gone' } }, ['promote db-1', 'wait Promoting']],
    [
      'it is not back, and one of them has the link',
      { ...back, nodes: { ...back.nodes, 0: { ...heir, linkUp: true }, 2: 'gone' } },
      ['wait PrimaryStarting'],
    ],
    [
      'it is not back, one of them has the link, and an added one follows nobody',
      {
        ...back,
        size: 4,
        spec: { replicas: 4 },
        nodes: { ...back.nodes, 0: { ...heir, linkUp: true }, 2: 'gone', 3: 'blank' },
      },
      ['wait PrimaryStarting'],
    ],
    [
      'it is back at another address, and one of them has yet to notice that its link has ended',
      { ...back, nodes: { ...back.nodes, 0: { ...heir, linkUp: true } } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'it is back as a replica of another, and one of them says that it has the link',
      { ...back, nodes: { ...back.nodes, 0: { ...heir, linkUp: true }, 2: { offset: 0, follows: '10.8.0.9' } } },
      asBefore,
    ],
    ['one of them restarted as well: it may have more', { ...back, nodes: { ...back.nodes, 0: {} } }, asBefore],
    [
      'one of them may not be elected',
      { ...back, nodes: { ...back.nodes, 0: { ...heir, failoverEligible: false } } },
      asBefore,
    ],
    [
      'one of them does not answer, and may have more',
      { ...back, nodes: { ...back.nodes, 0: 'silent' } },
      ['wait PrimaryStarting'],
    ],
    [
      'one of them is being stopped, and the other has as much: once stopped, it tells no more',
      { ...back, pods: { 'db-0': 'terminating' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'it has the same',
      { ...back, nodes: { ...back.nodes, 1: heir }, pods: { 'db-0': 'terminating' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'it has more',
      { ...back, nodes: { ...back.nodes, 0: { ...heir, offset: 5002 } }, pods: { 'db-0': 'terminating' } },
      ['wait PrimaryStarting'],
    ],
    [
      'one of them has no machine: it did not keep running, and would have nothing to say',
      { ...back, nodes: { ...back.nodes, 0: 'silent' }, pods: { 'db-0': 'unschedulable' } },
      asBefore,
    ],
    [
      'one that is added has no machine yet: it has never had any data',
      {
        ...back,
        size: 4,
        spec: { replicas: 4 },
        nodes: { ...back.nodes, 3: 'silent' },
        pods: { 'db-3': 'unschedulable' },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'it has got one since, and has nothing to copy from',
      { ...back, size: 4, spec: { replicas: 4 }, nodes: { ...back.nodes, 3: 'blank' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'it restarted before its first copy was written down, and where it ran neither was: it may have had more',
      {
        ...back,
        size: 4,
        spec: { replicas: 4 },
        nodes: { ...back.nodes, 3: { offset: 0, empty: true, failoverEligible: false, ...termed('replica', 3) } },
      },
      asBefore,
    ],
    [
      'it was copying when the primary ended',
      withoutTerm(3, {
        ...back,
        size: 4,
        spec: { replicas: 4 },
        addresses: { ...back.addresses, 3: '10.0.0.3' },
        nodes: { ...back.nodes, 3: { ...heir, offset: 0, empty: true, failoverEligible: false } },
      }),
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'it copies again, and has had a link before: it may have had more',
      {
        ...back,
        size: 4,
        spec: { replicas: 4 },
        addresses: { ...back.addresses, 3: '10.0.0.3' },
        nodes: {
          ...back.nodes,
          3: { ...heir, ...termed('replica', 3), offset: 0, empty: true, failoverEligible: false },
        },
      },
      asBefore,
    ],
    [
      'it was copying when it was seen last, and does not run: it may have loaded the copy since',
      {
        ...back,
        size: 4,
        spec: { replicas: 4 },
        addresses: { ...back.addresses, 3: '10.8.0.3' },
        nodes: { ...back.nodes, 3: 'silent' },
        pods: { 'db-3': 'unschedulable' },
      },
      asBefore,
    ],
    [
      'one of them came back on a blank volume: it may have had more',
      { ...back, nodes: { ...back.nodes, 0: 'blank' } },
      asBefore,
    ],
    ['it has no pod either', { ...back, nodes: { ...back.nodes, 0: 'gone' } }, asBefore],
    [
      'its process restarted in its pod: its machine has lost nothing',
      {
        ...back,
        addresses: { 0: '10.0.0.0', 1: '10.0.0.1', 2: '10.0.0.2' },
        nodes: { 0: { ...heir, follows: '10.0.0.2' }, 1: { ...heir, follows: '10.0.0.2' }, 2: {} },
      },
      asBefore,
    ],
    ['nobody wrote down where it was', { ...back, addresses: {} }, asBefore],
    ['it took writes without any of them', { ...back, spec: { config: { 'min-replicas-to-write': 0 } } }, asBefore],
    ['a person has chosen', { ...back, ...choosing('db-2') }, asBefore],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('the last primary, which does not answer, is waited for as such, and not as one of those that kept running', () => {
    const { cluster, children, observed } = redisWorld({ ...back, nodes: { 0: {}, 1: heir, 2: 'silent' } });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      reason: 'PrimaryStarting',
      message: 'waiting for db-2, the last primary, to answer',
    });
  });
});
