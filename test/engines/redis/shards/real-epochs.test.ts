/** A primary that is about to take a slot is cut off from the cluster bus of real servers, while the operator reaches it. */
import { afterEach, describe, expect, it } from 'vitest';
import { actSlots } from '../../../../src/engines/redis/act/shards/act-slots.ts';
import type { Member, SlotAction } from '../../../../src/engines/redis/action.ts';
import { myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { hasSlot } from '../../../../src/engines/redis/kind/slots.ts';
import { type BusProxy, busProxy, busProxyLines } from '../../../support/bus-proxy.ts';
import { essentialServers } from '../../../support/redis-program.ts';
import { formCluster, identity, type ShardStage, shardStage, tagsWithin } from '../../../support/redis-shards.ts';
import { mortalContext } from '../../../support/slot-operator.ts';
import { until } from '../../../support/until.ts';

describe.skipIf(essentialServers.length === 0).each([...essentialServers])('epochs of $name', ({ server }) => {
  let stage: ShardStage | undefined;
  let bus: BusProxy | undefined;
  afterEach(async () => {
    await stage?.close();
    bus?.close();
  });

  const epochs = async (at: ShardStage, node: number): Promise<{ own: number; newest: number }> => {
    const info = String(await at.ask(node, 'CLUSTER', 'INFO'));
    const epoch = (name: string): number => Number(new RegExp(`cluster_${name}_epoch:(\\d+)`).exec(info)?.[1]);
    return { own: epoch('my'), newest: epoch('current') };
  };
  const member = async (at: ShardStage, node: number): Promise<Member> => ({
    ...{ pod: `n${node}`, address: at.address(node), id: await at.id(node) },
  });
  const act = (action: SlotAction): Promise<void> => actSlots(action, { identity }, mortalContext());

  interface Scene {
    readonly at: ShardStage;
    readonly bus: BusProxy;
    /** Of the two nodes of the third shard, it has the smaller ID, and not the newest epoch. */
    readonly primary: number;
    readonly replica: number;
    readonly key: string;
  }

  /** @param newest who has the newest epoch of all: another primary, or the replica of this one */
  async function scene(newest: 'another' | 'its replica' = 'another'): Promise<Scene> {
    const at = await shardStage(server, busProxyLines);
    stage = at;
    const proxy = await busProxy([1, 2, 3, 4, 5].map(at.address));
    bus = proxy;
    await formCluster(at, [1, 2, 3], { 4: 3, 5: 1 });
    const [primary, replica] = (await at.id(3)) < (await at.id(4)) ? [3, 4] : [4, 3];
    await until(
      'it is primary',
      async () => {
        if (myselfIn(await at.view(primary)).role === 'primary') return;
        throw new Error(String(await at.ask(primary, 'CLUSTER', 'FAILOVER')));
      },
      { everyMs: 2_000 },
    );
    await until('all know it', async () => {
      const id = await at.id(primary);
      for (const node of [1, 2]) {
        expect((await at.view(node)).find((one) => one.id === id)?.slots.length).toBeGreaterThan(0);
      }
    });
    // One that is made before all have heard of the last one is made twice.
    await agreed(at);
    expect(await at.ask(newest === 'another' ? 2 : replica, 'CLUSTER', 'BUMPEPOCH')).toMatch(/^BUMPED/);
    await agreed(at);
    const [key = ''] = await tagsWithin(at, [10_923, 16_383], 1);
    expect(await at.ask(primary, 'SET', key, 'before')).toBe('OK');
    await until('the replica has it', async () => expect(await at.ask(replica, 'DBSIZE')).toBe(1));
    return { at, bus: proxy, primary, replica, key };
  }

  const agreed = (at: ShardStage): Promise<void> =>
    until('all know the newest epoch', async () => {
      const told = await Promise.all([1, 2, 3, 4, 5].map((node) => epochs(at, node)));
      expect(new Set(told.map(({ newest }) => newest)).size).toBe(1);
    });

  async function moveTo({ at, primary, replica }: Scene): Promise<SlotAction> {
    const [source, other] = [await member(at, 1), await member(at, 2)];
    return {
      ...{ type: 'redis.moveSlots', source, target: await member(at, primary), others: [other] },
      ...{
        followers: [await member(at, replica)],
        otherReplicas: [await member(at, 5)],
        slots: [{ first: 0, last: 0 }],
      },
      ...{ isFinishing: false, mostKeyBytes: 2 ** 22, isReplicated: true, nodeTimeoutMs: 5_000 },
    };
  }

  async function closeOf({ at, primary, replica }: Scene): Promise<SlotAction> {
    const voters = [await member(at, 1), await member(at, 2)];
    const followers = [await member(at, replica)];
    return {
      ...{ type: 'redis.closeSlot', slot: 16_383, owner: await member(at, primary), others: [] },
      ...{ voters, followers, otherReplicas: [await member(at, 5)], nodeTimeoutMs: 5_000 },
    };
  }

  async function refusalOf(action: SlotAction): Promise<string | undefined> {
    return act(action).then(
      () => undefined,
      (error: Error) => error.message,
    );
  }

  /** The replica is elected while the primary is cut off, and a client writes to it. Then the primary is back. */
  async function fail({ at, bus: proxy, primary, replica, key }: Scene): Promise<void> {
    await until(
      'the replica is elected',
      async () => {
        expect(myselfIn(await at.view(replica)).role).toBe('primary');
        expect(await at.ask(replica, 'SET', key, 'after')).toBe('OK');
      },
      { withinMs: 30_000 },
    );
    const elected = await epochs(at, replica);
    expect(elected.own).toBeGreaterThan((await epochs(at, primary)).own);
    proxy.cut(undefined);
    await until(
      'the other one follows it',
      async () => {
        const views = await Promise.all([primary, replica].map((node) => at.view(node)));
        expect(
          views.map((view) => myselfIn(view).role),
          JSON.stringify([elected, views]),
        ).toEqual(['replica', 'primary']);
      },
      { withinMs: 20_000 },
    );
    expect(await at.ask(replica, 'GET', key)).toBe('after');
  }

  it.each([
    ['a slot moves to it', 'just now', 'another', 0, moveTo],
    ['a slot moves to it', 'just now', 'its replica', 0, moveTo],
    ['a slot moves to it', 'for three seconds', 'another', 3_200, moveTo],
    ['a slot of it is closed', 'just now', 'another', 0, closeOf],
  ] as const)(
    '%s that has been cut off %s, and %s has the newest epoch: what is written to the replica that is elected stays',
    async (_, __, newest, cutForMs, actionOf) => {
      const set = await scene(newest);
      const action = await actionOf(set);
      set.bus.cut(set.at.address(set.primary));
      await new Promise((resolve) => setTimeout(resolve, cutForMs));
      const refused = await refusalOf(action);
      await fail(set);
      expect(refused).toMatch(/have not heard of|did not answer/);
    },
    120_000,
  );

  it('a slot of it is closed whose replica has failed and comes back: what is written to that one stays', async () => {
    const set = await scene();
    const { at, primary, replica } = set;
    const action = { ...(await closeOf(set)), followers: [] } as SlotAction;
    at.signal(replica, 'SIGSTOP');
    const id = await at.id(replica);
    await until('it has failed', async () =>
      expect((await at.view(primary)).find((node) => node.id === id)?.isFailed).toBe(true),
    );
    set.bus.cut(at.address(primary));
    const refused = await refusalOf(action);
    at.signal(replica, 'SIGCONT');
    await fail(set);
    expect(refused).toMatch(/have not heard of|did not answer/);
  }, 120_000);

  it('takes slots with the newest epoch, of which its replica has heard', async () => {
    const set = await scene();
    const { at, primary, replica } = set;
    const before = await epochs(at, primary);
    expect(before.own).toBeLessThan(before.newest);
    await act(await moveTo(set));
    const after = await epochs(at, primary);
    expect(after.own).toBe(after.newest);
    expect(after.own).toBeGreaterThan(before.newest);
    const id = await at.id(primary);
    expect((await at.view(replica)).find((node) => node.id === id)?.epoch).toBe(after.own);
    expect(hasSlot(myselfIn(await at.view(primary)).slots, 0)).toBe(true);
    // Nobody to tell: it is not begun.
    await at.ask(2, 'CLUSTER', 'BUMPEPOCH');
    await until('it has heard', async () => expect((await epochs(at, primary)).newest).toBe(after.own + 1));
    // Nobody else takes an epoch that is newer than what its replica may have.
    const uncounted = { ...(await moveTo(set)), otherReplicas: [], slots: [{ first: 1, last: 1 }] };
    await expect(act(uncounted as SlotAction)).rejects.toThrow('that a replica of another shard has taken');
    const alone = { ...(await moveTo(set)), followers: [], slots: [{ first: 1, last: 1 }] };
    await expect(act(alone as SlotAction)).rejects.toThrow(`a replica of n${primary} is not reached`);
  }, 120_000);
});
