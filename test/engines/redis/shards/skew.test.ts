/** Shards of different versions: a server does not read the keys of a newer one. */
import { describe, expect, it } from 'vitest';
import { firstSlotsOf } from '../../../../src/engines/redis/kind/shards.ts';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { words } from '../../../support/plan-words.ts';
import { type ShardChange, type ShardsStory, shardPods, shardsWorld } from '../../../support/shards-situation.ts';

const planned = (story: ShardsStory): readonly string[] =>
  words(planShards(shardsWorld(story))).filter((line) => !/ConfigMap|^apply StatefulSet/.test(line));

/** The fourth shard is to leave, and came with the newer version: the others have yet to restart. */
function world(
  changes: Readonly<Record<string, ShardChange>> = {},
  more: Partial<ShardsStory> = {},
  isOutdated = true,
): ShardsStory {
  const older = shardPods().map((pod) => [pod, { version: '8.0.2', ...(isOutdated ? { isOutdated: true } : {}) }]);
  const nodes: Record<string, ShardChange> = {
    ...Object.fromEntries(older),
    'db-s3-0': { version: '8.2.1' },
    'db-s3-1': { version: '8.2.1' },
  };
  for (const [i, pod] of ['db-s0-0', 'db-s1-0', 'db-s2-0', 'db-s3-0'].entries()) {
    nodes[pod] = { ...nodes[pod], slots: firstSlotsOf(i, 4) };
  }
  for (const [pod, change] of Object.entries(changes)) {
    const { isOutdated: _, ...before } = nodes[pod] ?? {};
    nodes[pod] = { ...(change === renewed ? before : nodes[pod]), ...change };
  }
  const holders = Object.fromEntries(
    ['db-s0', 'db-s1', 'db-s2', 'db-s3'].map((set, i) => {
      const { version = '' } = nodes[`${set}-0`] ?? {};
      return [set, { slots: firstSlotsOf(i, 4), version, ...more.holders?.[set] }];
    }),
  );
  return { there: 4, spec: { shards: 3 }, nodes, ...more, holders };
}

/** It has restarted with the newer version. */
const renewed = { version: '8.2.1' } as const;
const halfMoved: Partial<ShardsStory> = { holders: { 'db-s0': { strays: [{ slot: 12_288, keys: 2 }] } } };

describe('a shard that gets keys of a newer one', () => {
  it.each<readonly [story: string, world: ShardsStory, plan: readonly string[]]>([
    ['restarts first: its replicas', world(), ['delete Pod db-s0-1', 'wait Restarting']],
    [
      'then its primary, by a hand-over',
      world({ 'db-s0-1': renewed }),
      ['db-s0-1 takes over from db-s0-0', 'wait HandingOver'],
    ],
    [
      'then slots move there, although others have yet to restart',
      world({ 'db-s0-0': renewed, 'db-s0-1': renewed }),
      ['move slots 12288-12799 db-s3-0 -> db-s0-0', 'wait MovingSlots'],
    ],
    [
      'not before another shard that can read them has its share',
      world({ 'db-s1-0': renewed, 'db-s1-1': renewed }),
      ['move slots 12288-12799 db-s3-0 -> db-s1-0', 'wait MovingSlots'],
    ],
    ['restarts also where a slot is half moved', world({}, halfMoved), ['delete Pod db-s0-1', 'wait Restarting']],
    [
      'whatever else is not well',
      world({ 'db-s1-1': { linkUp: false } }, halfMoved),
      ['delete Pod db-s0-1', 'wait Restarting'],
    ],
    ['not while it is not well itself', world({ 'db-s0-1': { linkUp: false } }, halfMoved), ['wait MovingSlots']],
    ['waits where nothing would change by a restart', world({}, {}, false), ['wait MovingSlots']],
    [
      'is not the shard that gives keys to a newer one',
      world({ 'db-s3-0': { version: '7.2.0' }, 'db-s3-1': { version: '7.2.0' } }),
      ['move slots 12288-12799 db-s3-0 -> db-s0-0', 'wait MovingSlots'],
    ],
  ])('%s', (_, story, plan) => {
    const found = planned(story);
    expect(found).toHaveLength(plan.length);
    for (const [i, expected] of plan.entries()) expect(found[i]).toContain(expected);
  });

  it('says what it waits for', () => {
    expect(planShards(shardsWorld(world({}, {}, false))).outcome).toMatchObject({
      message: expect.stringContaining('db-s0-0 runs 8.0.2 and cannot read keys of db-s3-0, which runs 8.2.1'),
    });
  });
});
