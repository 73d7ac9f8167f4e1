/** The node to which a slot moves is gone: what becomes of the keys that have moved there. */
import { describe, expect, it } from 'vitest';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { words } from '../../../support/plan-words.ts';
import { idOf, type ShardChange, type ShardsStory, shardsWorld } from '../../../support/shards-situation.ts';

const former = { id: idOf('db-s3-0'), hostname: 'db-s3-0.db.apps.svc', linkUp: false, isFailed: true } as const;
const other = 'f'.repeat(40);
const migrating = { slot: 0, to: former.id };
const blank: ShardChange = { id: other, role: 'primary', slots: [], empty: true };
const four = {
  'db-s0': { migrating: [migrating] },
  'db-s1': {},
  'db-s2': {},
  'db-s3': { primary: { pod: 'db-s3-0', address: '10.0.3.0', id: other } },
};

function world(nodes: ShardsStory['nodes'], strangers: ShardsStory['strangers'] = [former]): ShardsStory {
  return {
    spec: { shards: 4, replicasPerShard: 0 },
    there: 4,
    holders: four,
    strangers,
    nodes: { 'db-s0-0': { migrating }, ...nodes },
  };
}

describe('a slot is open to a node that is gone', () => {
  it.each<readonly [story: string, world: ShardsStory, last: string]>([
    [
      'and nobody in its shard has a key: those that had moved are lost',
      world({ 'db-s3-0': blank }),
      'blocked DataLost',
    ],
    [
      'and another node of the shard has keys: it is not lost',
      world({ 'db-s3-0': { ...blank, empty: false } }),
      'wait MovingSlots',
    ],
  ])('%s', (_, story, last) => {
    const plan = words(planShards(shardsWorld(story)));
    expect(plan.at(-1)).toBe(last);
    expect(plan.filter((word) => word.startsWith('forget'))).toEqual([]);
  });

  it('the message names the slot, and how to go on without the keys', () => {
    const story = world({ 'db-s3-0': blank });
    expect(planShards(shardsWorld(story)).outcome).toMatchObject({
      message: expect.stringMatching(
        /^slots 0 were moving to db-s3-0, .* run as the identity of the cluster CLUSTER SETSLOT 0 STABLE on db-s0-0$/,
      ),
    });
  });

  it('it is forgotten once no slot is open to it', () => {
    const story = { ...world({ 'db-s3-0': blank }), holders: {} };
    const closed = { ...story, nodes: { ...story.nodes, 'db-s0-0': {} } };
    expect(words(planShards(shardsWorld(closed)))).toContain(`forget ${former.id.slice(0, 4)} (db-s3-0) on 4`);
  });
});
