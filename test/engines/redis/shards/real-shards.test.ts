/** Redis Clusters of real servers, driven by the planner and the actions as the operator does it. */
import { afterEach, describe, expect, it } from 'vitest';
import { clusterNodes, myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { slotMigrations } from '../../../../src/engines/redis/client/slot-migrations.ts';
import { type ShardsUnderTest, shardsOn } from '../../../support/operated-shards.ts';
import { essentialServers, isEveryVersionWanted } from '../../../support/redis-program.ts';
import { until } from '../../../support/until.ts';

/** Of `0-5460,6000`. */
const countOf = (slots: string): number =>
  slots.split(/[ ,]+/).reduce((sum, range) => {
    const [first, last = first] = range.split('-').map(Number);
    return sum + (Number(last) - Number(first) + 1);
  }, 0);

describe.skipIf(essentialServers.length === 0).each([...essentialServers])('a cluster of $name', (program) => {
  const worlds: ShardsUnderTest[] = [];
  afterEach(() => {
    for (const world of worlds.splice(0)) world.close();
  });

  function made(...args: Parameters<typeof shardsOn> extends [unknown, ...infer Rest] ? Rest : never): ShardsUnderTest {
    const world = shardsOn(program, ...args);
    worlds.push(world);
    return world;
  }

  async function ready(...args: Parameters<typeof made>): Promise<ShardsUnderTest> {
    const world = made(...args);
    await world.until('Ready');
    return world;
  }

  const keys = Array.from({ length: 40 }, (_, i) => `key:${i}`);
  const fill = async (world: ShardsUnderTest): Promise<void> => {
    for (const key of keys) await world.client('SET', key, `value of ${key}`);
  };
  const lost = async (world: ShardsUnderTest): Promise<string[]> => {
    const missing: string[] = [];
    for (const key of keys) if ((await world.client('GET', key)) !== `value of ${key}`) missing.push(key);
    return missing;
  };
  const sharesIn = ({ status }: ShardsUnderTest): Record<string, number> =>
    Object.fromEntries(
      (status.members ?? [])
        .filter(({ role }) => role === 'primary')
        .map(({ name, slots = '' }) => [name, countOf(slots)]),
    );
  const idsOf = ({ status }: ShardsUnderTest): (string | undefined)[] => (status.members ?? []).map(({ id }) => id);

  it('C1: forms one write at a time, as if the operator died after each, and serves every slot once', async () => {
    const world = made();
    const done = await world.until('Ready', undefined, 1);
    expect(new Set(done.filter((words) => words.startsWith('give slots'))).size).toBe(3);
    expect(world.failures).toEqual([]);
    expect(world.status.members?.map(({ name, role, slots }) => [name, role, slots])).toEqual([
      ['db-s0-0', 'primary', '0-5460'],
      ['db-s0-1', 'replica', undefined],
      ['db-s1-0', 'primary', '5461-10921'],
      ['db-s1-1', 'replica', undefined],
      ['db-s2-0', 'primary', '10922-16383'],
      ['db-s2-1', 'replica', undefined],
    ]);
    await fill(world);
    expect(await lost(world)).toEqual([]);
  }, 400_000);

  it('C5: when every address is new at once, the same nodes find each other again with their keys', async () => {
    const world = await ready();
    await fill(world);
    const before = idsOf(world);
    for (const pod of world.nodes.keys()) world.kill(pod);
    for (const pod of [...world.nodes.keys()]) world.start(pod, { elsewhere: true });
    await world.step();
    expect(world.status.phase).not.toBe('Ready');
    const done = await world.until('Ready');
    expect(done.some((words) => words.includes(' meet '))).toBe(true);
    expect(idsOf(world)).toEqual(before);
    expect(await lost(world)).toEqual([]);
  }, 400_000);

  it('a primary that is gone is replaced by its replica, and comes back on a blank volume as a replica with another ID', async () => {
    const world = await ready();
    await fill(world);
    const [victim = ''] = world.primaries();
    const old = world.status.members?.find(({ name }) => name === victim)?.id;
    world.kill(victim);
    await world.until('Degraded', () => !world.primaries().includes(victim) && world.primaries().length === 3);
    world.start(victim, { elsewhere: true, blank: true });
    const done = await world.until('Ready');
    expect(done.some((words) => words.startsWith('have all nodes forget'))).toBe(true);
    const back = world.status.members?.find(({ name }) => name === victim);
    expect(back?.role).toBe('replica');
    expect(back?.id).not.toBe(old);
    expect(await lost(world)).toEqual([]);
  }, 400_000);

  it('C8: slots whose every copy is gone are given to nobody', async () => {
    const world = await ready();
    for (const pod of ['db-s1-0', 'db-s1-1']) world.kill(pod);
    for (const pod of ['db-s1-0', 'db-s1-1']) world.start(pod, { elsewhere: true, blank: true });
    const done = await world.until('Blocked');
    for (let i = 0; i < 20; i++) {
      const { steps } = await world.step();
      done.push(...steps.flatMap((step) => (step.type === 'act' ? [step.summary] : [])));
    }
    expect(done.filter((words) => words.startsWith('give slots'))).toEqual([]);
    const condition = world.status.conditions?.find(({ type }) => type === 'Ready');
    expect(condition?.reason).toBe('DataLost');
    expect(condition?.message).toContain('5461-10921');
  }, 400_000);

  it('C7: a roll restarts replicas first, one shard at a time, and each primary hands over', async () => {
    const world = await ready();
    await fill(world);
    world.retemplate();
    const done = await world.until('Ready', () => world.status.conditions?.[0]?.reason === 'AllMembersReady');
    expect(done.filter((words) => words.includes('take over'))).toHaveLength(3);
    expect(await lost(world)).toEqual([]);
  }, 400_000);

  it('replicas come and go, and a primary that has to go hands over and is forgotten before', async () => {
    const world = await ready();
    await fill(world);
    world.spec = { replicasPerShard: 2 };
    await world.until('Ready', () => world.nodes.size === 9);
    await world.until('Ready', async () => {
      if (world.primaries().includes('db-s0-2')) return true;
      // The server gives up after five seconds on a slow machine.
      await world.ask('db-s0-2', 'CLUSTER', 'FAILOVER');
      return false;
    });
    world.spec = { replicasPerShard: 1 };
    const done = await world.until('Ready', () => world.nodes.size === 6);
    expect(done.some((words) => words.includes('take over from db-s0-2'))).toBe(true);
    expect(await lost(world)).toEqual([]);
    const view = String(await world.ask('db-s0-0', 'CLUSTER', 'NODES'));
    expect(view.trim().split('\n')).toHaveLength(6);
  }, 400_000);

  // Minutes, where keys move one by one.
  const dying = isEveryVersionWanted ? ([[', with an operator that dies after each step', 1]] as const) : [];
  it.each([['', undefined] as const, ...dying])(
    'shards come and go with their slots, while clients write%s',
    async (_, only) => {
      const world = await ready();
      await fill(world);
      const acknowledged = new Map<string, string>();
      const refused: unknown[] = [];
      let isOver = false;
      const writing = (async () => {
        for (let n = 0; !isOver; n++) {
          const [key, value] = [`written:${n % 200}`, String(n)];
          try {
            if ((await world.client('SET', key, value)) === 'OK') acknowledged.set(key, value);
          } catch (error) {
            refused.push(error);
          }
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })();
      const shares = (): number[] => Object.values(sharesIn(world)).sort((a, b) => a - b);
      world.spec = { ...world.spec, shards: 4 };
      await world.until('Ready', () => world.status.members?.length === 8, only);
      expect(shares()).toEqual([4096, 4096, 4096, 4096]);
      expect(await lost(world)).toEqual([]);
      world.spec = { ...world.spec, shards: 3 };
      await world.until('Ready', () => world.nodes.size === 6, only);
      isOver = true;
      await writing;
      expect(shares()).toEqual([5461, 5461, 5462]);
      expect(world.failures).toEqual([]);
      expect(refused).toEqual([]);
      expect(await lost(world)).toEqual([]);
      for (const [key, value] of acknowledged) expect(await world.client('GET', key)).toBe(value);
      expect([...world.claims.keys()].filter((pod) => pod.includes('-s3-')).length).toBe(2);
    },
    600_000,
  );

  /** As an operator leaves it that ends in the middle of a slot. Of the keys that have moved, the replica of the target has all but the last. */
  async function halfMove(world: ShardsUnderTest, source: string, target: string): Promise<readonly string[]> {
    const [first = 0, last = 0] = await ownSlots(world, source);
    let tag = '';
    let slot = 0;
    for (let n = 0; tag === ''; n++) {
      slot = Number(await world.ask(source, 'CLUSTER', 'KEYSLOT', `t${n}`));
      // Not among those that move next.
      if (slot > (first + last) / 2 && slot <= last) tag = `t${n}`;
    }
    const own = Array.from({ length: 9 }, (_, i) => `{${tag}}:${i}`);
    for (const key of own) await world.client('SET', key, `value of ${key}`);
    const idOf = (pod: string) => world.ask(pod, 'CLUSTER', 'MYID').then(String);
    await world.ask(target, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', await idOf(source));
    await world.ask(source, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', await idOf(target));
    const move = async (...moved: readonly string[]): Promise<void> => {
      const to = [world.nodes.get(target)?.address ?? '', '6379', '', '0', '5000', 'AUTH2', ...world.identity];
      expect(await world.ask(source, 'MIGRATE', ...to, 'KEYS', ...moved)).toBe('OK');
    };
    await move(...own.slice(0, 3));
    const replica = target.endsWith('-0') ? target.replace(/0$/, '1') : target.replace(/\d$/, '0');
    await until('the replica has them', async () => {
      const count = await world.ask(replica, 'CLUSTER', 'COUNTKEYSINSLOT', String(slot));
      if (count !== 3) throw new Error(String(count));
    });
    world.signal(replica, 'SIGSTOP');
    await move(...own.slice(3, 4));
    return own;
  }

  async function ownSlots(world: ShardsUnderTest, pod: string): Promise<readonly number[]> {
    const { slots } = myselfIn(clusterNodes(await world.ask(pod, 'CLUSTER', 'NODES')));
    return [slots[0]?.first ?? 0, slots.at(-1)?.last ?? 0];
  }

  it.each([
    ['and comes back once its slot has moved', true],
    ['and comes back at once', false],
  ])(
    'a new shard loses its primary in the middle of a slot, %s: it follows, and no key is lost',
    async (_, isLate) => {
      const world = await ready();
      await fill(world);
      world.spec = { shards: 4 };
      const isBegun = async (): Promise<boolean> =>
        world.nodes.has('db-s3-0') && (await ownSlots(world, 'db-s3-0'))[1] !== 0;
      for (let i = 0; !(await isBegun().catch(() => false)); i++) {
        if (i > 600) throw new Error(JSON.stringify(world.status.conditions));
        await world.step();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await until('nothing moves', async () => {
        for (const pod of world.primaries()) {
          const migrations = await world.ask(pod, 'CLUSTER', 'GETSLOTMIGRATIONS').catch(() => []);
          if (slotMigrations(migrations).some(({ state }) => state === 'running')) throw new Error(pod);
        }
      });
      const own = await halfMove(world, 'db-s1-0', 'db-s3-0');
      world.kill('db-s3-0');
      world.signal('db-s3-1', 'SIGCONT');
      await until('a replica takes over', async () => {
        const self = myselfIn(clusterNodes(await world.ask('db-s3-1', 'CLUSTER', 'NODES')));
        if (self.role !== 'primary') throw new Error(self.role);
      });
      if (isLate) {
        for (let i = 0; i < 40; i++) await world.step();
      }
      world.start('db-s3-0');
      await world.until('Ready');
      expect(sharesIn(world)).toEqual({ 'db-s0-0': 4096, 'db-s1-0': 4096, 'db-s2-0': 4096, 'db-s3-1': 4096 });
      for (const key of own) expect(await world.client('GET', key)).toBe(`value of ${key}`);
      expect(await lost(world)).toEqual([]);
    },
    400_000,
  );

  it('a node of another cluster on the volume of a copy is never met', async () => {
    const other = await ready();
    const world = await ready();
    const { directory = '' } = other.nodes.get('db-s2-1') ?? {};
    world.kill('db-s2-1');
    world.start('db-s2-1', { elsewhere: true, blank: true, copyOf: directory });
    const done = await world.until('Blocked');
    for (let i = 0; i < 10; i++) {
      const { steps } = await world.step();
      done.push(...steps.flatMap((step) => (step.type === 'act' ? [step.summary] : [])));
    }
    expect(world.status.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('ForeignNode');
    expect(done.filter((words) => words.includes(' meet '))).toEqual([]);
  }, 400_000);

  it('no cluster is made over volumes of another', async () => {
    const world = await ready();
    for (const pod of world.claims.keys()) world.claims.set(pod, {});
    world.status = {};
    const done = await world.until('Blocked');
    expect(done.filter((words) => !words.startsWith('set '))).toEqual([]);
    expect(world.status.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('VolumesInUse');
  }, 400_000);
});
