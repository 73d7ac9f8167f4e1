/** Redis Clusters of real servers, driven by the planner and the actions as the operator does it. */
import { afterEach, describe, expect, it } from 'vitest';
import { serverPrograms } from '../../../support/redis-program.ts';
import { type ShardsUnderTest, shardsOn } from '../../../support/redis-shards.ts';

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('a cluster of $name', ({ server }) => {
  let world: ShardsUnderTest | undefined;
  afterEach(() => world?.close());

  it('C1: forms, and becomes Ready with every slot served once', async () => {
    world = shardsOn(server);
    const done = await world.until('Ready');
    expect(done.filter((words) => words.startsWith('give slots'))).toHaveLength(3);
    expect(world.failures).toEqual([]);
    expect(world.status.members?.map(({ name, role, slots }) => [name, role, slots])).toMatchInlineSnapshot(`
      [
        [
          "db-s0-0",
          "primary",
          "0-5460",
        ],
        [
          "db-s0-1",
          "replica",
          undefined,
        ],
        [
          "db-s1-0",
          "primary",
          "5461-10921",
        ],
        [
          "db-s1-1",
          "replica",
          undefined,
        ],
        [
          "db-s2-0",
          "primary",
          "10922-16383",
        ],
        [
          "db-s2-1",
          "replica",
          undefined,
        ],
      ]
    `);
  }, 120_000);
});
