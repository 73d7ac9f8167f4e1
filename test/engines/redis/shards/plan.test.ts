import { describe, expect, it } from 'vitest';
import { firstSlotsOf } from '../../../../src/engines/redis/kind/shards.ts';
import { nodeAnnotation } from '../../../../src/engines/redis/names.ts';
import { unownedSlots } from '../../../../src/engines/redis/observe/shards/views.ts';
import { lossOutcome } from '../../../../src/engines/redis/plan/shards/losses.ts';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { shardsStatus } from '../../../../src/engines/redis/status/shards.ts';
import { words as planWords } from '../../../support/plan-words.ts';
import { idOf, type ShardChange, type ShardsStory, shardPods, shardsWorld } from '../../../support/shards-situation.ts';

const words = (story: ShardsStory): readonly string[] => planWords(planShards(shardsWorld(story)));
const everywhere = (change: ShardChange): Record<string, ShardChange> =>
  Object.fromEntries(shardPods().map((pod) => [pod, change]));

const blank: ShardChange = { role: 'primary', slots: [], empty: true, isAlone: true, isUnknown: true };
const other = 'f'.repeat(40);
const three = { 'db-s0': {}, 'db-s1': {}, 'db-s2': {} };
const four = { ...three, 'db-s3': {} };
const second = {
  primary: { pod: 'db-s0-1', address: '10.0.0.1', id: idOf('db-s0-1') },
  slots: [],
  isSecond: true,
} as const;
/** Nobody that stays knows them. */
const gone: ShardsStory['nodes'] = { 'db-s3-0': { isUnknown: true }, 'db-s3-1': { isUnknown: true } };

it('of two primaries with keys and without slots, a person has made the newer one primary', () => {
  const nodes = { 'db-s3-1': { role: 'primary', epoch: 9 } } as const;
  const { shards } = shardsWorld({ spec: { shards: 4 }, there: 4, nodes });
  expect(shards[3]?.primary?.pod).toBe('db-s3-1');
});

it('hundreds of views of hundreds of nodes are read', () => {
  const world = shardsWorld({
    nodes: Object.fromEntries(['db-s1-0', 'db-s1-1'].map((pod, i) => [pod, { ...blank, id: String(i).repeat(40) }])),
    strangers: [{ id: idOf('db-s1-0'), hostname: 'db-s1-0.db.apps.svc', role: 'primary', slots: firstSlotsOf(1, 3) }],
  });
  const nodes = Array.from({ length: 70 }, () => world.nodes)
    .flat()
    .map((node) => ({ ...node, view: [...node.view, ...Array.from({ length: 400 }, () => node.self)] }));
  expect(lossOutcome({ ...world, nodes })).toMatchObject({ reason: 'DataLost' });
  expect(unownedSlots(nodes)).toEqual([]);
});

describe('what a Redis Cluster needs next', () => {
  it.each<readonly [story: string, world: ShardsStory, plan: readonly string[]]>([
    ['nothing, where it is whole', {}, ['settled']],
    [
      'C7: a replica restarts first, of the first shard',
      { nodes: { 'db-s0-0': { isOutdated: true }, 'db-s0-1': { isOutdated: true }, 'db-s1-1': { isOutdated: true } } },
      ['delete Pod db-s0-1', 'wait Restarting'],
    ],
    [
      'C7: a primary has a replica take over before it restarts',
      { nodes: { 'db-s0-0': { isOutdated: true } } },
      ['db-s0-1 takes over from db-s0-0', 'wait HandingOver'],
    ],
    [
      'nobody restarts while somebody else is not well',
      { nodes: { 'db-s0-1': { isOutdated: true }, 'db-s2-1': { linkUp: false } } },
      ['wait MembersNotReady'],
    ],
    [
      'an election is left to the primaries',
      { nodes: { 'db-s1-0': { isSilent: true, isFailed: true } } },
      ['wait ShardDown'],
    ],
    [
      'C8: slots of a volume that is gone with every copy are given to nobody',
      {
        nodes: {
          'db-s1-0': { ...blank, id: other, isAlone: true },
          'db-s1-1': { ...blank, id: 'e'.repeat(40), isAlone: true },
        },
        strangers: [
          {
            id: idOf('db-s1-0'),
            hostname: 'db-s1-0.db.apps.svc',
            role: 'primary',
            slots: firstSlotsOf(1, 3),
            linkUp: false,
            isFailed: true,
          },
        ],
      },
      ['db-s0-0 meets db-s1-0', 'db-s0-0 meets db-s1-1', 'blocked DataLost'],
    ],
    [
      'a node that nobody of this cluster is: no step at all',
      {
        nodes: { 'db-s2-1': { ...blank, id: other } },
        strangers: [{ id: 'd'.repeat(40), hostname: 'db-s0-0.db.others.svc' }],
      },
      ['blocked ForeignNode'],
    ],
    [
      'a volume with the memory of another cluster is not met',
      {
        nodes: { 'db-s2-1': { id: other, isUnknown: true } },
        claims: { 'db-s2-1': { [nodeAnnotation]: idOf('db-s2-1') } },
      },
      ['blocked ForeignNode'],
    ],
    [
      'a node that is gone is forgotten by all at once',
      {
        nodes: { 'db-s2-1': { id: other } },
        strangers: [{ id: idOf('db-s2-1'), hostname: 'db-s2-1.db.apps.svc', linkUp: false, isFailed: true }],
      },
      [`forget ${idOf('db-s2-1').slice(0, 4)} (db-s2-1) on 6`, 'wait Repairing'],
    ],
    [
      'but not while one of the nodes does not answer, since it would tell the others of it again',
      {
        nodes: { 'db-s2-1': { id: other }, 'db-s0-1': { isSilent: true } },
        strangers: [{ id: idOf('db-s2-1'), hostname: 'db-s2-1.db.apps.svc', linkUp: false, isFailed: true }],
      },
      ['wait MembersNotReady'],
    ],
    [
      'the claim names a blank node before it is met',
      { nodes: { 'db-s2-1': { ...blank, id: other } }, claims: { 'db-s2-1': { [nodeAnnotation]: idOf('db-s2-1') } } },
      [`metadata.annotations[${nodeAnnotation}]`, 'wait Repairing'],
    ],
    [
      'a blank node that is known becomes a replica',
      { nodes: { 'db-s2-1': { role: 'primary', slots: [], empty: true } } },
      ['db-s2-1 replicates db-s2-0', 'wait Repairing'],
    ],
    ['one with keys does not', { nodes: { 'db-s2-1': { role: 'primary', slots: [] } } }, ['wait MembersNotReady']],
    [
      'a shard more is made, and waited for',
      { spec: { shards: 4 } },
      ['ConfigMap', 'create StatefulSet db-s3', 'wait MembersNotReady'],
    ],
    [
      'slots move to a shard that has none',
      { spec: { shards: 4 }, there: 4, holders: four },
      ['move slots 0 db-s0-0 -> db-s3-0', 'wait MovingSlots'],
    ],
    [
      'the other replica of a shard without slots follows the one that a person has made primary',
      {
        ...{ spec: { shards: 4, replicasPerShard: 2 }, there: 4, holders: three },
        nodes: { 'db-s3-0': { isSilent: true, isFailed: true }, 'db-s3-1': { role: 'primary', epoch: 9 } },
      },
      ['db-s3-2 replicates db-s3-1', 'wait Repairing'],
    ],
    ...(['db-s3-1', 'db-s3-0'] as const).map((pod): readonly [string, ShardsStory, readonly string[]] => [
      `a shard without room restarts with more memory all the same: ${pod}`,
      {
        ...{ spec: { shards: 4 }, there: 4, nodes: { [pod]: { isOutdated: true } } },
        holders: { ...four, 'db-s0': { dataBytes: 2 ** 30 }, 'db-s3': { room: 2 ** 20 } },
      },
      [pod === 'db-s3-1' ? 'delete Pod db-s3-1' : 'db-s3-1 takes over from db-s3-0', 'blocked NoRoom'],
    ]),
    [
      'no slot moves before every primary has told what it has',
      { spec: { shards: 4 }, there: 4, holders: three },
      ['wait MovingSlots'],
    ],
    [
      'no move begins while somebody is not well',
      { spec: { shards: 4 }, there: 4, holders: four, nodes: { 'db-s1-1': { linkUp: false } } },
      ['wait MembersNotReady'],
    ],
    [
      'nor to a shard that somebody has forgotten: for a minute it learns of it from nobody',
      { spec: { shards: 4 }, there: 4, holders: four, nodes: { 'db-s1-0': { forgets: ['db-s3-0'] } } },
      ['wait MembersNotReady'],
    ],
    [
      'what is half moved is finished all the same',
      {
        there: 3,
        holders: { ...three, 'db-s1': { strays: [{ slot: 5, keys: 2 }] } },
        nodes: { 'db-s1-1': { linkUp: false } },
      },
      ['move slots 5 db-s0-0 -> db-s1-0', 'wait MovingSlots'],
    ],
    [
      'also while nodes have yet to meet',
      {
        holders: { ...three, 'db-s1': { strays: [{ slot: 5, keys: 2 }] } },
        nodes: { 'db-s2-1': blank },
      },
      ['db-s0-0 meets db-s2-1', 'move slots 5 db-s0-0 -> db-s1-0', 'wait Repairing'],
    ],
    [
      'a primary that was replaced gives away what it has of an open slot',
      {
        holders: { ...three, 'db-s0 (db-s0-1)': { ...second, strays: [{ slot: 5461, keys: 2 }] } },
        nodes: { 'db-s0-1': { role: 'primary', slots: [] } },
      },
      ['return keys of slot 5461 db-s0-1 -> db-s1-0', 'wait MovingSlots'],
    ],
    [
      'and follows who has replaced it then',
      { holders: three, nodes: { 'db-s0-1': { role: 'primary', slots: [], empty: true } } },
      ['db-s0-1 replicates db-s0-0', 'wait Repairing'],
    ],
    [
      'a shard with keys stays, whatever the spec asks for',
      { there: 4, holders: { ...four, 'db-s3': { keys: 1 } } },
      ['wait ScalingIn'],
    ],
    ['a shard whose primary does not tell stays', { there: 4, holders: three }, ['wait MovingSlots']],
    [
      'a shard whose pods have never come goes',
      {
        there: 4,
        holders: three,
        nodes: {
          'db-s3-0': { isSilent: true, isUnknown: true },
          'db-s3-1': { isSilent: true, isUnknown: true },
        },
      },
      [
        'metadata.annotations[clusterwright.dev/cluster-formed]',
        'metadata.annotations[clusterwright.dev/cluster-formed]',
        'wait ScalingIn',
      ],
    ],
    [
      'a primary without slots that may wait for its replica, which has keys, is told of',
      {
        ...{ spec: { shards: 4 }, there: 4, holders: three },
        nodes: { 'db-s3-0': { isSilent: true, isFailed: true } },
      },
      ['wait ShardDown'],
    ],
    [
      'a replica that alone has keys of a shard without slots copies from nobody',
      {
        ...{ spec: { shards: 4 }, there: 4, holders: four },
        nodes: { 'db-s3-0': { id: 'f'.repeat(40), empty: true } },
      },
      ['blocked ShardDown'],
    ],
    [
      'a shard without slots and keys is forgotten first',
      { there: 4, holders: four },
      ['(db-s3-0) on 6', '(db-s3-1) on 6', 'wait ScalingIn'],
    ],
    [
      'then its claims are no longer marked',
      { there: 4, holders: four, nodes: gone },
      [
        'metadata.annotations[clusterwright.dev/cluster-formed]',
        'metadata.annotations[clusterwright.dev/cluster-formed]',
        'wait ScalingIn',
      ],
    ],
    [
      'then its StatefulSet goes',
      { there: 4, holders: four, nodes: gone, unmarked: ['db-s3-0', 'db-s3-1'] },
      ['ConfigMap', 'delete StatefulSet db-s3', 'wait ScalingIn'],
    ],
    [
      'one that somebody is not there to forget stays',
      { there: 4, holders: four, nodes: { 'db-s1-1': { isSilent: true } } },
      ['wait MembersNotReady'],
    ],
    ['C1: no cluster is made over volumes that hold one', { isNew: true }, ['blocked VolumesInUse']],
    [
      'C1: blank nodes after a formation are a loss, whatever the claims say',
      { isNew: true, status: { initialized: true }, nodes: everywhere(blank) },
      [`metadata.annotations[${nodeAnnotation}]`, 'wait Repairing'],
    ],
  ])('%s', (_, story, plan) => {
    const found = words(story);
    for (const [i, expected] of plan.entries()) expect(found.at(i - plan.length) ?? '').toContain(expected);
    if (!plan.some((line) => line.includes('annotations'))) expect(found).toHaveLength(plan.length);
  });

  it('C1: the first step of a new cluster is to write down what is intended', () => {
    const { steps } = planShards(shardsWorld({ isNew: true, nodes: everywhere(blank) }));
    expect(new Set(steps.map(({ type }) => type))).toEqual(new Set(['patch']));
    expect(steps).toHaveLength(6);
  });
});

describe('the status', () => {
  const statusOf = (story: ShardsStory) => {
    const situation = shardsWorld({ status: { phase: 'Ready' }, ...story });
    return shardsStatus(situation, planShards(situation));
  };

  it('is Ready where it is whole, and tells shards and slots', () => {
    const { phase, members = [], placement, initialized } = statusOf({});
    expect({ phase, placement, initialized }).toEqual({ phase: 'Ready', placement: 'BestEffort', initialized: true });
    expect(members[0]).toMatchObject({ name: 'db-s0-0', role: 'primary', shard: 'db-s0', slots: '0-5460' });
  });

  it('is Degraded where a shard has no primary, and Blocked where its data is lost', () => {
    expect(statusOf({ nodes: { 'db-s1-0': { isSilent: true, isFailed: true } } }).phase).toBe('Degraded');
  });
});

it('a shard of which nobody answers: what there is to do where the volume of its primary is behind', () => {
  const nodes = {
    'db-s1-0': { isSilent: true, isFailed: true },
    'db-s1-1': { isSilent: true, isFailed: true },
  } as const;
  expect(planShards(shardsWorld({ nodes })).outcome).toMatchObject({
    reason: 'ShardDown',
    message: expect.stringMatching(/no replica of it does; if the log of db-s1-0 says .* create \/data\/initialised/),
  });
});

describe('replicas that may not lead', () => {
  it.each<readonly [story: string, world: ShardsStory, message: RegExp]>([
    [
      'a rollout says why nobody takes over',
      { nodes: { 'db-s0-0': { isOutdated: true }, 'db-s0-1': { isUnelectable: true } } },
      /db-s0-0 is the last .*nobody can take over: db-s0-1 may not be elected \(replica-priority 0\)/,
    ],
    [
      'also of one that writes its file just now',
      { nodes: { 'db-s0-0': { isOutdated: true }, 'db-s0-1': { unwritten: true } } },
      /nobody can take over: db-s0-1 has yet to write down/,
    ],
    [
      'also of one whose pod does not let it be elected',
      { nodes: { 'db-s0-0': { isOutdated: true }, 'db-s0-1': { isBarred: true } } },
      /nobody can take over: db-s0-1 may not be elected \(cluster-replica-no-failover\)/,
    ],
    [
      'so does a primary that is to be removed',
      {
        ...{ replicas: 2, spec: { replicasPerShard: 1 } },
        nodes: {
          'db-s0-0': { role: 'replica', follows: 'db-s0-2', slots: [], isUnelectable: true },
          'db-s0-1': { follows: 'db-s0-2', isUnelectable: true },
          'db-s0-2': { role: 'primary', slots: firstSlotsOf(0, 3) },
        },
      },
      /db-s0-2 hands over.*nobody can take over: db-s0-0 may not be elected .*; db-s0-1 may not/,
    ],
    ['a cluster at rest says it', { nodes: { 'db-s1-1': { isUnelectable: true } } }, /^db-s1-1 may not be elected/],
  ])('%s', (_, story, message) => {
    const world = shardsWorld({ status: { phase: 'Ready', initialized: true }, ...story });
    const plan = planShards(world);
    expect(plan.outcome).toMatchObject({ state: 'wait', message: expect.stringMatching(message) });
    expect(shardsStatus(world, plan).phase).not.toBe('Ready');
  });

  it('and restarts first, since that may be what it needs', () => {
    expect(words({ nodes: { 'db-s0-1': { isUnelectable: true, isOutdated: true } } })).toEqual([
      'delete Pod db-s0-1',
      'wait Restarting',
    ]);
  });
});
