/** Whom an action on slots asks before a target takes one: its replicas, the primaries that would elect one of them, and replicas of other shards. */
import { describe, expect, it } from 'vitest';
import type { RedisAction } from '../../../../src/engines/redis/action.ts';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { idOf, type ShardsStory, shardsWorld } from '../../../support/shards-situation.ts';

const [from, to] = [idOf('db-s0-0'), idOf('db-s3-0')];
const slot = 5;

/** A slot is half moved from the first shard to the fourth. */
const halfMoved: ShardsStory = {
  there: 4,
  holders: {
    'db-s0': { migrating: [{ slot, to }], keys: 100 },
    'db-s1': {},
    'db-s2': {},
    'db-s3': { importing: [{ slot, from }], strays: [{ slot, keys: 3 }], keys: 3 },
  },
};

function actionsOf(story: ShardsStory): readonly RedisAction[] {
  return planShards(shardsWorld(story)).steps.flatMap((step) => (step.type === 'act' ? [step.action] : []));
}

const named = (...pods: readonly string[]) => pods.map((pod) => expect.objectContaining({ pod }));

describe('an action on slots', () => {
  it('names the replicas of the target, and the other primaries', () => {
    expect(actionsOf({ ...halfMoved, spec: { shards: 4 } })).toEqual([
      expect.objectContaining({
        ...{ type: 'redis.moveSlots', isReplicated: true },
        ...{ others: named('db-s1-0', 'db-s2-0'), followers: named('db-s3-1') },
        otherReplicas: named('db-s0-1', 'db-s1-1', 'db-s2-1'),
      }),
    ]);
    const begun = { ...halfMoved.holders, 'db-s3': {} };
    expect(actionsOf({ ...halfMoved, spec: { shards: 3 }, holders: begun })).toEqual([
      expect.objectContaining({
        ...{ type: 'redis.closeSlot', others: [], nodeTimeoutMs: 5_000 },
        ...{ voters: named('db-s1-0', 'db-s2-0', 'db-s3-0'), followers: named('db-s0-1') },
        otherReplicas: named('db-s1-1', 'db-s2-1', 'db-s3-1'),
      }),
    ]);
    const atomic = Object.fromEntries(['db-s0', 'db-s1', 'db-s2', 'db-s3'].map((set) => [set, { isAtomic: true }]));
    expect(actionsOf({ ...halfMoved, spec: { shards: 4 }, holders: atomic })).toEqual([
      expect.objectContaining({
        ...{ type: 'redis.migrateSlots', nodeTimeoutMs: 5_000 },
        ...{ others: named('db-s1-0', 'db-s2-0'), followers: named('db-s3-1') },
        otherReplicas: named('db-s0-1', 'db-s1-1', 'db-s2-1'),
      }),
    ]);
  });

  it('waits for no replica of a shard that is to go and never gets one', () => {
    const story = { ...halfMoved, spec: { shards: 3, replicasPerShard: 1 } };
    const [alone] = actionsOf({ ...story, replicas: 0 });
    expect(alone).toMatchObject({ type: 'redis.moveSlots', isReplicated: false });
    const [both] = actionsOf(story);
    expect(both).toMatchObject({ type: 'redis.moveSlots', isReplicated: true });
  });
});
