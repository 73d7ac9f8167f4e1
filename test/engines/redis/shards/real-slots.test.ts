/**
 * Slots move on real servers while a client writes: the operator is killed after each of its commands, servers are killed in the middle, and it turns
 * round. At the end every acknowledged write is there, once.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { actOnShards } from '../../../../src/engines/redis/act/shards/act.ts';
import { actSlots } from '../../../../src/engines/redis/act/shards/act-slots.ts';
import { clusterNodes, myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { allSlots, countSlots, hasSlot, unionOf } from '../../../../src/engines/redis/kind/slots.ts';
import { nextLeavingStep } from '../../../../src/engines/redis/plan/shards/leaving.ts';
import { type Ledger, lostWrites, startLedger } from '../../../support/cluster-writer.ts';
import { essentialServers } from '../../../support/redis-program.ts';
import {
  follow,
  formCluster,
  identity,
  type ShardStage,
  shardStage,
  tagsWithin,
} from '../../../support/redis-shards.ts';
import { followPrimaries, holdersOf, mortalContext, pass, type Shards } from '../../../support/slot-operator.ts';
import { until } from '../../../support/until.ts';

const mostKeyBytes = 2 ** 26;
const wanted = (shards: string, isReplicated = false) => ({
  ...{ shards: new Set(shards), mostKeyBytes, isReplicated },
  nodeTimeoutMs: 5_000,
});

/** Names whose slots are among the first that shard `a` gives away. */
const tagsBelow = (stage: ShardStage, slot: number, count: number): Promise<string[]> =>
  tagsWithin(stage, [0, slot - 1], count);

async function passes(
  stage: ShardStage,
  shards: Shards,
  want: string,
  isEnough?: () => Promise<boolean>,
): Promise<void> {
  let last: unknown;
  for (let n = 0; n < 1000; n++) {
    const { error, ...done } = await pass(stage, shards, wanted(want));
    if ('plan' in done && done.plan === undefined) return;
    if ((await isEnough?.()) === true) return;
    if (error !== undefined) last = error;
    if (done.plan === undefined || done.plan.steps.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('it does not end', { cause: last });
}

async function expectWhole(stage: ShardStage, shards: Shards, ledger: Ledger): Promise<void> {
  const holders = await until('it is whole', () => holdersOf(stage, shards));
  expect(unionOf(...holders.map(({ slots }) => slots))).toEqual(allSlots);
  expect(holders.flatMap(({ strays, migrating, importing }) => [...strays, ...migrating, ...importing])).toEqual([]);
  const nodes = Object.values(shards).flat();
  const lost = await lostWrites(() => nodes.filter((node) => stage.isRunning(node)).map(stage.address), ledger);
  expect(lost).toEqual([]);
  // Each once: what was not acknowledged may be there, too.
  const keys = holders.reduce((sum, holder) => sum + holder.keys, 0);
  expect(keys).toBeGreaterThanOrEqual(ledger.acknowledged.size);
  expect(keys).toBeLessThanOrEqual(ledger.acknowledged.size + ledger.unanswered.size);
  expect(ledger.acknowledged.size).toBeGreaterThan(10);
}

/** Not among the first that move together. */
const halfMoved = 700;

/** The servers move slots by themselves, and have not ended. */
const untilMigrating = (stage: ShardStage, shards: Shards): Promise<void> =>
  until(
    'slots move',
    async () => {
      if ((await holdersOf(stage, shards)).some(({ running }) => running.length > 0)) return;
      await pass(stage, shards, wanted('abcd'));
      throw new Error('not yet');
    },
    { everyMs: 1 },
  );

/** As an operator leaves it that ends in the middle of a slot. */
async function moveOneKey(stage: ShardStage): Promise<void> {
  const slot = String(halfMoved);
  await stage.ask(7, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await stage.id(1));
  await stage.ask(1, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await stage.id(7));
  const keys = (await stage.ask(1, 'CLUSTER', 'GETKEYSINSLOT', slot, '1')) as readonly string[];
  const { user, password } = identity;
  const to = [stage.address(7), '6379', '', '0', '5000', 'AUTH2', user, password, 'KEYS', ...keys];
  expect(await stage.ask(1, 'MIGRATE', ...to)).toBe('OK');
}

describe.skipIf(essentialServers.length === 0).each([...essentialServers])('slots of $name', ({ server }) => {
  let stage: ShardStage | undefined;
  let ledger: Ledger | undefined;
  afterEach(async () => {
    await ledger?.stop();
    await stage?.close();
    ledger = undefined;
  });

  async function threeShards(replicas: Readonly<Record<number, number>> = {}): Promise<ShardStage> {
    stage = await shardStage(server);
    await formCluster(stage, [1, 2, 3], replicas);
    return stage;
  }

  async function join(at: ShardStage, ...nodes: readonly number[]): Promise<void> {
    await at.start(...nodes);
    for (const node of nodes) await at.ask(1, 'CLUSTER', 'MEET', at.address(node), '6379');
    await at.untilWhole(1, 2, 3, ...nodes);
  }

  it('move to a new shard and back, with an operator that dies after each command', async () => {
    const at = await threeShards();
    await join(at, 4);
    const library = "#!lua name=lib\nredis.register_function('f', function() return 1 end)";
    await at.ask(1, 'FUNCTION', 'LOAD', library);
    const shards = { a: [1], b: [2], c: [3], d: [4] };
    ledger = startLedger(() => [1, 2, 3, 4].map(at.address), { tags: await tagsBelow(at, 20, 16) });
    const hasMoved = async (): Promise<boolean> => countSlots(myselfIn(await at.view(4)).slots) >= 24;
    for (let n = 1; !(await hasMoved()); n++) {
      if (n > 2000) throw new Error('it does not move');
      await pass(at, shards, wanted('abcd'), mortalContext(8 + ((n * 7) % 260)));
    }
    expect(JSON.stringify(await at.ask(4, 'FUNCTION', 'LIST'))).toContain('"lib"');
    expect(countSlots(myselfIn(await at.view(4)).slots)).toBeLessThan(4096);
    await passes(at, shards, 'abc');
    await ledger.stop();
    await expectWhole(at, shards, ledger);

    const leaver = await at.id(4);
    const witnesses = await Promise.all(
      [1, 2, 3].map(async (node) => ({
        node: { pod: `n${node}`, address: at.address(node), id: await at.id(node) },
        nodes: await at.view(node),
      })),
    );
    const holders = (await holdersOf(at, shards)).filter(({ shard }) => shard === 'd');
    const step = nextLeavingStep({ holders, members: [{ id: leaver, pod: 'n4' }], witnesses, silent: [] });
    if (step.does !== 'forget') throw new Error(JSON.stringify(step));
    for (const action of [...step.actions, ...step.actions]) await actOnShards(action, { identity }, mortalContext());
    await at.kill(4);
    for (const node of [1, 2, 3]) expect((await at.view(node)).some(({ id }) => id === leaver)).toBe(false);
  }, 600_000);

  it.each(['source', 'target'] as const)(
    'move where the %s is lost in the middle, and a replica takes over',
    async (lost) => {
      const at = await threeShards({ 4: 1, 5: 2, 6: 3 });
      await join(at, 7, 8);
      await follow(at, 8, 7);
      const shards = { a: [1, 4], b: [2, 5], c: [3, 6], d: [7, 8] };
      const [tag = ''] = await tagsWithin(at, [halfMoved, halfMoved], 1);
      const tags = [tag, ...(await tagsWithin(at, [halfMoved - 5, halfMoved + 5], 5))];
      ledger = startLedger(() => [1, 2, 3, 4, 5, 6, 7, 8].filter((n) => at.isRunning(n)).map(at.address), {
        tags,
        isReplicated: true,
      });
      const written = ledger.acknowledged;
      await until('there is something to move', () => {
        if (written.size < 150) throw new Error(`${written.size}`);
      });
      // Nobody is elected in the place of a primary without slots.
      const hasSlots = async (): Promise<boolean> => countSlots(myselfIn(await at.view(7)).slots) > 0;
      await passes(at, shards, 'abcd', hasSlots);
      const isAtomic = (await holdersOf(at, shards)).every((holder) => holder.isAtomic);
      await (isAtomic ? untilMigrating(at, shards) : moveOneKey(at));
      const [node, replica] = lost === 'source' ? [1, 4] : [7, 8];
      await at.kill(node);
      await until('a replica takes over', async () => {
        const state = String(await at.ask(replica, 'CLUSTER', 'INFO'));
        const { role } = myselfIn(await at.view(replica));
        if (role !== 'primary' || !state.includes('cluster_state:ok')) throw new Error(role);
      });
      const hasMoved = async (): Promise<boolean> =>
        hasSlot(myselfIn(await at.view(lost === 'source' ? 7 : 8)).slots, halfMoved);
      // Valkey: a target that comes back takes an open slot that its source has given away, and all that it had before.
      const mayTake = at.isValkey && !isAtomic && lost === 'target';
      if (mayTake) {
        for (let i = 0; i < 5; i++) {
          const { plan } = await pass(at, shards, wanted('abcd', true));
          expect(plan?.outcome).toMatchObject({ message: expect.stringContaining('stays open') });
        }
      } else await passes(at, shards, 'abcd', hasMoved);
      await at.start(node);
      // What has moved meanwhile keeps it from following by itself, and what it had of an open slot from being told to.
      await until('it is a replica', async () => {
        const { error } = await pass(at, shards, wanted('abcd', true));
        await followPrimaries(at, shards);
        const { role } = myselfIn(await at.view(node));
        if (role !== 'replica') throw new Error(role, { cause: error });
      });
      if (mayTake) await passes(at, shards, 'abcd', hasMoved);
      await passes(at, shards, 'abc');
      await ledger.stop();
      await expectWhole(at, shards, ledger);
    },
    600_000,
  );

  it('that are half moved are finished, closed, or left to a person, as the keys tell', async () => {
    const at = await threeShards();
    const [tag = ''] = await tagsBelow(at, 1, 1);
    const shards = { a: [1], b: [2], c: [3] };
    const [one, two] = [await at.id(1), await at.id(2)];
    const next = async (): Promise<unknown> => (await pass(at, shards, wanted('abc'))).plan?.steps[0]?.action;
    const binary = `{${tag}}\u00ff\u0000\r\n`;
    await at.ask(1, 'SET', binary, 'v', 'PX', '90000');
    await at.ask(2, 'CLUSTER', 'SETSLOT', '0', 'IMPORTING', one);
    expect(await next()).toMatchObject({ type: 'redis.closeSlot', slot: 0 });
    await at.ask(1, 'CLUSTER', 'SETSLOT', '0', 'MIGRATING', two);
    expect(await next()).toMatchObject({ type: 'redis.closeSlot', slot: 0 });
    expect(await next()).toBeUndefined();

    // Keys of a slot that is open nowhere, as a failover of both sides leaves them: the same value as the owner's, and another one.
    const stray = async (key: string, value: string): Promise<void> => {
      await at.ask(2, 'CLUSTER', 'SETSLOT', '0', 'IMPORTING', one);
      const connection = await at.open(2);
      await connection.command('ASKING');
      await connection.command('SET', key, value, ...(key === binary ? ['PX', '90000'] : []));
      connection.close();
      await at.ask(2, 'CLUSTER', 'SETSLOT', '0', 'STABLE');
    };
    await stray(binary, 'v');
    await at.ask(1, 'SET', `{${tag}}x`, 'ours');
    await stray(`{${tag}}x`, 'theirs');
    const { plan, error } = await pass(at, shards, wanted('abc'));
    expect(plan?.steps[0]?.action).toMatchObject({ type: 'redis.moveSlots', target: { pod: 'n2' } });
    expect(String(error)).toContain('1 keys of slot 0 are both on n1 and on n2, with different values');
    expect(String(error)).not.toContain(tag);
    await at.ask(1, 'DEL', `{${tag}}x`).catch(() => undefined);
    expect((await pass(at, shards, wanted('abc'))).error).toBeUndefined();
    expect(hasSlot(myselfIn(await at.view(2)).slots, 0)).toBe(true);
    expect([await at.ask(2, 'GET', binary), await at.ask(2, 'GET', `{${tag}}x`)]).toEqual(['v', 'theirs']);

    // It is refused where somebody else has the slot, and where the node is another one.
    const [a, b] = await holdersOf(at, shards);
    if (a === undefined || b === undefined) throw new Error('no shards');
    const { shards: _, ...rest } = wanted('');
    const move = {
      type: 'redis.moveSlots',
      others: [],
      followers: [],
      otherReplicas: [],
      slots: [{ first: 0, last: 0 }],
      isFinishing: false,
      ...rest,
    } as const;
    const away = { ...move, source: a.primary, target: (await holdersOf(at, shards))[2]?.primary ?? a.primary };
    await expect(actSlots(away, { identity }, mortalContext())).rejects.toThrow('n1 does not have slot 0 any more');
    const another = { ...away, source: { ...a.primary, id: two } };
    await expect(actSlots(another, { identity }, mortalContext())).rejects.toThrow('n1 is another node of the cluster');

    // A key of many mebibytes stays until it is planned.
    await at.ask(1, 'SETRANGE', `{${(await tagsBelow(at, 9, 60)).at(-1)}}big`, String(6 * 2 ** 20), 'x');
    const large: number[] = [];
    await until('it has moved', async () => {
      const done = await pass(at, { a: [1], b: [2], c: [3] }, wanted('bc'));
      const action = done.plan?.steps[0]?.action;
      if (action?.type === 'redis.moveSlots') large.push(action.mostKeyBytes);
      if (large.every((bytes) => bytes < 6 * 2 ** 20) && !(action?.type === 'redis.migrateSlots'))
        throw new Error('no');
    });
    expect(clusterNodes(await at.ask(1, 'CLUSTER', 'NODES')).length).toBe(3);
  }, 600_000);
});
