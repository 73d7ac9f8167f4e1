/** Copies of keys while a slot moves on real servers: none of a batch is on one machine alone, and of two different ones the owner's stays. */
import { afterEach, describe, expect, it } from 'vitest';
import { actSlots } from '../../../../src/engines/redis/act/shards/act-slots.ts';
import type { Member, SlotAction } from '../../../../src/engines/redis/action.ts';
import { myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { hasSlot } from '../../../../src/engines/redis/kind/slots.ts';
import { essentialServers } from '../../../support/redis-program.ts';
import {
  follow,
  formCluster,
  identity,
  type ShardStage,
  shardStage,
  tagsWithin,
} from '../../../support/redis-shards.ts';
import { mortalContext } from '../../../support/slot-operator.ts';
import { until } from '../../../support/until.ts';

describe.skipIf(essentialServers.length === 0).each([...essentialServers])('slots of $name', ({ server }) => {
  let stage: ShardStage | undefined;
  afterEach(() => stage?.close());

  /** Three shards and a fourth one without slots, none with a replica. */
  async function fourShards(): Promise<ShardStage> {
    stage = await shardStage(server);
    await formCluster(stage, [1, 2, 3]);
    await stage.start(4);
    await stage.ask(1, 'CLUSTER', 'MEET', stage.address(4), '6379');
    await stage.untilWhole(1, 2, 3, 4);
    return stage;
  }

  const member = async (at: ShardStage, node: number): Promise<Member> => ({
    ...{ pod: `n${node}`, address: at.address(node), id: await at.id(node) },
  });
  const act = (action: SlotAction): Promise<void> => actSlots(action, { identity }, mortalContext());
  const isOf = async (at: ShardStage, node: number): Promise<boolean> =>
    hasSlot(myselfIn(await at.view(node)).slots, 0);

  it('no key moves to a target without a replica, and no slot', async () => {
    const at = await fourShards();
    const [tag = ''] = await tagsWithin(at, [0, 0], 1);
    const keys = Array.from({ length: 250 }, (_, i) => `{${tag}}:${i}`);
    for (const key of keys) await at.ask(1, 'SET', key, 'v');
    const move: SlotAction = {
      ...{ type: 'redis.moveSlots', source: await member(at, 1), target: await member(at, 4) },
      ...{
        others: [await member(at, 2), await member(at, 3)],
        slots: [{ first: 0, last: 0 }],
        followers: [],
        otherReplicas: [],
      },
      ...{ isFinishing: false, mostKeyBytes: 2 ** 22, isReplicated: true, nodeTimeoutMs: 5_000 },
    };
    for (let i = 0; i < 3; i++) await expect(act(move)).rejects.toThrow('no replica of n4');
    expect(await at.ask(4, 'DBSIZE')).toBe(0);

    // The replica was lost when all keys had moved.
    await at.ask(4, 'CLUSTER', 'SETSLOT', '0', 'IMPORTING', await at.id(1));
    await at.ask(1, 'CLUSTER', 'SETSLOT', '0', 'MIGRATING', await at.id(4));
    const to = [at.address(4), '6379', '', '0', '5000', 'AUTH2', identity.user, identity.password, 'KEYS', ...keys];
    expect(await at.ask(1, 'MIGRATE', ...to)).toBe('OK');
    await expect(act(move)).rejects.toThrow('no replica of n4');
    expect([await isOf(at, 1), await isOf(at, 4)]).toEqual([true, false]);
    await at.start(5);
    await at.ask(1, 'CLUSTER', 'MEET', at.address(5), '6379');
    await at.untilWhole(1, 2, 3, 4, 5);
    await follow(at, 5, 4);
    await until('n4 has heard of its replica', async () => {
      const replica = (await at.view(4)).find(({ address }) => address === at.address(5));
      expect(replica?.primaryId).toBe(await at.id(4));
    });
    await expect(act(move)).rejects.toThrow('a replica of n4 is not reached');
    await act({ ...move, followers: [await member(at, 5)] });
    expect([await isOf(at, 1), await isOf(at, 4)]).toEqual([false, true]);
    expect(await at.ask(4, 'DBSIZE')).toBe(250);
  }, 200_000);

  it('what a replaced primary gives back never takes the place of what the owner has', async () => {
    const at = await fourShards();
    const [tag = ''] = await tagsWithin(at, [0, 0], 1);
    const [both, alone] = [`{${tag}}:both`, `{${tag}}:alone`] as const;
    await at.ask(4, 'CLUSTER', 'SETSLOT', '0', 'IMPORTING', await at.id(1));
    const connection = await at.open(4);
    for (const key of [both, alone]) {
      await connection.command('ASKING');
      await connection.command('SET', key, 'before');
    }
    connection.close();
    await at.ask(1, 'SET', both, 'now');
    await act({
      ...{ type: 'redis.returnKeys', slot: 0, from: await member(at, 4), owner: await member(at, 1) },
      ...{ mostKeyBytes: 2 ** 22, nodeTimeoutMs: 5_000 },
    });
    expect(await at.ask(4, 'DBSIZE')).toBe(0);
    expect([await at.ask(1, 'GET', both), await at.ask(1, 'GET', alone)]).toEqual(['now', 'before']);
  }, 200_000);
});
