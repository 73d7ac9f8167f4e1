import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { sizesFor } from '../../../src/engines/redis/plan/scaling.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { knownPeers, nodeAddress, redisWorld, type Story } from '../../support/redis-situation.ts';

const fiveToThree: Story = { spec: { replicas: 3 }, size: 5 };
/** What the sentinels know of nodes 0 to 3 when the primary is node 4 and node 3 may not be elected. */
const seeingThreeDemoted = {
  replicas: [0, 1, 2, 3].map((i) => ({ address: nodeAddress(i), priority: i === 3 ? 0 : 100, down: false })),
};

const setUnseen: Story = {
  size: 5,
  primary: 4,
  children: (objects) => objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db'),
};

/** Somebody has deleted the StatefulSet with all its pods. */
const setGone: Pick<Story, 'children'> = {
  children: (objects) =>
    objects.filter(({ kind, metadata }) => !/^(StatefulSet db|Pod db-\d)$/.test(`${kind} ${metadata.name}`)),
};

describe('more data nodes', () => {
  it.each<PlanRow>([
    ['come at once', { spec: { replicas: 5 }, size: 3 }, ['apply StatefulSet db: spec.replicas 3 > 5', 'settled']],
    [
      'also while a member is away: it may be the one that is needed',
      { spec: { replicas: 5 }, size: 3, nodes: { 1: 'silent' } },
      ['apply StatefulSet db: spec.replicas 3 > 5', 'wait MembersNotReady'],
    ],
    [
      'also while nobody is primary',
      { spec: { replicas: 5 }, size: 3, nodes: { 0: 'silent' } },
      ['apply StatefulSet db: spec.replicas 3 > 5', 'wait FailoverPending'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('the replicas that a primary needs to take writes', () => {
  const told = (story: Story): string[] =>
    planned(story).flatMap((line) => /^configure .*min-replicas-to-write=\d/.exec(line)?.[0] ?? []);
  const oneToThree: Story = { before: { replicas: 1 }, spec: { replicas: 3 }, size: 3 };
  const twoNeeded = { replicas: 4, config: { 'min-replicas-to-write': 2 } };
  const copying = { linkUp: false, failoverEligible: false };

  it.each<PlanRow>([
    ['1->3: it is not told before it has one: it would refuse every write', { ...oneToThree, size: 1 }, []],
    [
      '1->3: nor while both copy',
      { ...oneToThree, nodes: { 0: { replicas: [] }, 1: copying, 2: copying } },
      [1, 2].map((i) => `configure db-${i} min-replicas-to-write=1`),
    ],
    [
      '1->3: it is told once the first is in sync',
      { ...oneToThree, nodes: { 0: { replicas: [nodeAddress(1)] }, 2: copying } },
      [0, 1, 2].map((i) => `configure db-${i} min-replicas-to-write=1`),
    ],
    [
      '2->3 while the only replica is away: writes go on',
      { before: { replicas: 2 }, spec: { replicas: 3 }, nodes: { 0: { replicas: [] }, 1: 'silent' } },
      [],
    ],
    [
      '2->4 with two needed: one for each that is in sync',
      { before: { replicas: 2 }, spec: twoNeeded, nodes: { 1: 'gone' }, size: 3 },
      ['configure db-0 min-replicas-to-write=1', 'configure db-2 min-replicas-to-write=2'],
    ],
    [
      'what it needs does not fall with the replicas that it has: it may be cut off from them',
      {
        before: twoNeeded,
        spec: { replicas: 4, config: { 'min-replicas-to-write': 3 } },
        nodes: { 0: { replicas: [] } },
      },
      [1, 2, 3].map((i) => `configure db-${i} min-replicas-to-write=3`),
    ],
    [
      'of a fenced primary its pod decides',
      {
        spec: { replicas: 4, config: { 'min-replicas-to-write': 3 } },
        nodes: { 0: { settings: { 'min-replicas-to-write': '1000000' } } },
      },
      [],
    ],
    [
      'what is left of a fence on a replica is put back',
      { spec: {}, nodes: { 1: { settings: { 'min-replicas-to-write': '1000000' } } } },
      ['configure db-1 min-replicas-to-write=1'],
    ],
    [
      '3->1: it needs none at once',
      { before: {}, spec: { replicas: 1 } },
      [0, 1, 2].map((i) => `configure db-${i} min-replicas-to-write=0`),
    ],
  ])('%s', (_, story, plan) => expect(told(story)).toEqual(plan));
});

describe('more sentinels', () => {
  const more: Story = { spec: { sentinel: { replicas: 5, quorum: 3 } }, sentinelSize: 3 };
  const grown = 'apply StatefulSet db-sentinel: spec.replicas 3 > 5';

  it.each<readonly [story: string, story: Story, comes: boolean]>([
    ['come at once', more, true],
    ['come while a replica is away', { ...more, nodes: { 1: 'silent' } }, true],
    ['wait for a primary: they would know of none but the one before', { ...more, nodes: { 0: 'silent' } }, false],
    ['wait for the end of a failover', { ...more, sentinels: { 0: { failingOver: true } } }, false],
  ])('%s', (_, story, comes) => expect(planned(story).includes(grown)).toBe(comes));
});

describe('a larger quorum', () => {
  const asked: Story = { before: {}, spec: { sentinel: { replicas: 5, quorum: 3 } } };
  const knowing = (...peers: readonly number[]) => ({ all: { peers: knownPeers(...peers) } });
  const toldQuorum = (story: Story): string[] => planned(story).filter((line) => line.startsWith('tune '));
  const tuned = (count: number): string[] => Array.from({ length: count }, (_, i) => `tune db-sentinel-${i} quorum=3`);

  it.each<readonly [story: string, story: Story, told: readonly string[]]>([
    ['waits for the new sentinels: they would never be heard of where the primary ends first', asked, []],
    [
      'and for those that have been asked for and do not run',
      { ...asked, sentinelSize: 5, sentinels: { ...knowing(1, 2), 3: 'gone', 4: 'gone' } },
      [],
    ],
    [
      'also where one of those of before is away: two of them elect',
      { ...asked, sentinels: { all: { peers: [...knownPeers(1), { address: '10.0.1.2', down: true }] }, 2: 'silent' } },
      [],
    ],
    ['counts once all know each other', { ...asked, sentinelSize: 5, sentinels: knowing(1, 2, 3, 4) }, tuned(5)],
    [
      'or where more than half of those that are known are as many',
      { ...asked, sentinelSize: 4, sentinels: knowing(1, 2, 3) },
      tuned(4),
    ],
  ])('%s', (_, story, told) => expect(toldQuorum(story)).toEqual(told));
});

describe('fewer data nodes', () => {
  it.each<PlanRow>([
    ['one at a time', fiveToThree, ['apply StatefulSet db: spec.replicas 5 > 4', 'wait ScalingIn']],
    [
      'the next one when the first is gone',
      { ...fiveToThree, size: 4 },
      ['apply StatefulSet db: spec.replicas 4 > 3', 'wait ScalingIn'],
    ],
    [
      'R9: 5->3 with the primary on ordinal 4: first nobody else that goes may be elected',
      { ...fiveToThree, primary: 4 },
      ['configure db-3 replica-priority=0', 'wait Demoting'],
    ],
    [
      'R9: then every sentinel must have seen that',
      {
        ...fiveToThree,
        primary: 4,
        nodes: { 3: { failoverEligible: false, follows: nodeAddress(4) } },
        sentinels: { 0: seeingThreeDemoted },
      },
      ['wait Demoting'],
    ],
    [
      'R9: then the primary hands over',
      {
        ...fiveToThree,
        primary: 4,
        nodes: { 3: { failoverEligible: false, follows: nodeAddress(4) } },
        sentinels: { all: seeingThreeDemoted },
      },
      ['hand over db-4 -> db-0|db-1|db-2|db-3 by db-sentinel-0', 'wait HandingOver'],
    ],
    [
      'R9: then it goes, and what else goes stays out of elections',
      { ...fiveToThree, nodes: { 3: { failoverEligible: false, follows: nodeAddress(0) } } },
      ['apply StatefulSet db: spec.replicas 5 > 4', 'wait ScalingIn'],
    ],
    [
      'R9: 3->2 with the primary on the highest ordinal',
      { spec: { replicas: 2 }, size: 3, primary: 2 },
      ['hand over db-2 -> db-0|db-1 by db-sentinel-0', 'wait HandingOver'],
    ],
    [
      'nobody is let be elected before what it has copied is on its disk',
      { spec: { replicas: 5 }, nodes: { 3: { failoverEligible: false, unwritten: true } } },
      ['settled'],
    ],
    [
      'the change of mind: who stays may be elected again',
      { spec: { replicas: 5 }, nodes: { 3: { failoverEligible: false } } },
      ['configure db-3 replica-priority=100', 'wait Repairing'],
    ],
    [
      'R9: never below the last in-sync replica',
      { spec: { replicas: 1 }, size: 2, primary: 1, nodes: { 0: { linkUp: false } } },
      ['wait MembersNotReady'],
    ],
    [
      'R9: one that stays has yet to catch up',
      { ...fiveToThree, nodes: { 0: { replicas: [2, 3, 4].map(nodeAddress) } } },
      ['wait MembersNotReady'],
    ],
    ['G6: a missing pod is no reason to shrink', { nodes: { 2: 'gone' } }, ['wait MembersNotReady']],
    ['G6: nor may one that is wanted', { ...fiveToThree, nodes: { 4: 'gone' } }, ['wait MembersNotReady']],
    ['not while a member is silent', { ...fiveToThree, nodes: { 4: 'silent' } }, ['wait MembersNotReady']],
    [
      'not while something is repaired',
      { ...fiveToThree, sentinels: { 0: 'forgot' } },
      ['monitor db-sentinel-0 -> db-0', 'wait Repairing'],
    ],
    ['not while another pod restarts', { ...fiveToThree, pods: { 'db-1': 'terminating' } }, ['wait MembersNotReady']],
    [
      'R7: before an outdated primary hands over: it might be to one that goes, which hands over to it again',
      { ...fiveToThree, pods: { 'db-0': 'outdated' } },
      ['apply StatefulSet db: spec.replicas 5 > 4', 'wait ScalingIn'],
    ],
    ['not while nobody is primary', { ...fiveToThree, nodes: { 0: 'silent' } }, ['wait FailoverPending']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('sentinels', () => {
  const fiveThenThree: Story = { before: { sentinel: { replicas: 5, quorum: 3 } }, spec: {} };

  it('come at once', () => {
    const story: Story = { before: {}, spec: { sentinel: { replicas: 5, quorum: 3 } } };
    expect(planned(story).filter((line) => line.includes('replicas'))).toEqual([
      'apply StatefulSet db-sentinel: spec.replicas 3 > 5',
    ]);
  });

  it('R3: go one at a time, and before data nodes', () => {
    expect(planned({ spec: { replicas: 2 }, size: 3, sentinelSize: 5 })).toEqual([
      'apply StatefulSet db-sentinel: spec.replicas 5 > 4',
      'wait ScalingIn',
    ]);
  });

  it('R3: stay as many as they are while any of them is away', () => {
    const plan = planned({ ...fiveThenThree, spec: {}, sentinels: { 1: 'silent' } });
    expect(plan.some((line) => line.includes('spec.replicas'))).toBe(false);
  });

  it('R3: the next one goes only when the rest has forgotten the last one', () => {
    const remembering = { peers: [...knownPeers(0, 1, 2, 3), { address: '10.0.1.4', down: true }] };
    expect(planned({ sentinelSize: 4, sentinels: { all: remembering } })).toEqual([
      'forget db-sentinel-0',
      'wait Forgetting',
    ]);
  });
});

/** The rule by itself: data nodes and sentinels, for a cluster of which nothing else is known to be wrong. */
function sizes(story: Story, whole: boolean): readonly [data: number, sentinels: number] {
  const { cluster, children, observed } = redisWorld(story);
  const { data, sentinels } = sizesFor(situationOf(cluster, children, observed), whole);
  return [data, sentinels];
}

describe('the sizes to apply', () => {
  it.each<readonly [story: string, situation: Story, whole: boolean, sizes: readonly [number, number]]>([
    ['are those of the spec', {}, true, [3, 3]],
    [
      'grow at once',
      { spec: { replicas: 5, sentinel: { replicas: 5, quorum: 3 } }, size: 3, sentinelSize: 3 },
      false,
      [5, 5],
    ],
    ['shrink by one', { size: 5 }, true, [4, 3]],
    ['G6: never shrink while anything is amiss', { size: 5, sentinelSize: 5 }, false, [5, 5]],
    ['shrink on one side at a time', { size: 5, sentinelSize: 5 }, true, [5, 4]],
    ['R9: never take the primary away', { size: 5, primary: 4 }, true, [5, 3]],
    ['R9: are those that the pods tell of a set that somebody has taken out of sight', setUnseen, true, [5, 3]],
    ['R9: are as many as the last primary needs', { keptClaims: [3], terms: { 1: 2, 3: 4 }, ...setGone }, true, [4, 3]],
    ['R9: but no more for one of before', { keptClaims: [3], terms: { 1: 4, 3: 2 }, ...setGone }, true, [3, 3]],
    [
      'R9: nor for the sake of a single node',
      { spec: { mode: 'Standalone', replicas: 1 }, size: 1, keptClaims: [1], terms: { 0: 2, 1: 4 }, ...setGone },
      true,
      [1, 3],
    ],
    ['R9: nor a node that nobody can see', { size: 5, nodes: { 4: 'gone' } }, true, [5, 3]],
  ])('%s', (_, story, whole, expected) => expect(sizes(story, whole)).toEqual(expected));
});
