/** What the messages about lost slots tell a person to do, followed to the letter on real servers. */
import { afterEach, describe, expect, it } from 'vitest';
import { type ShardsUnderTest, shardsOn } from '../../../support/operated-shards.ts';
import { essentialServers } from '../../../support/redis-program.ts';
import { until } from '../../../support/until.ts';

describe.skipIf(essentialServers.length === 0).each([...essentialServers])('a cluster of $name', (program) => {
  const worlds: ShardsUnderTest[] = [];
  afterEach(() => {
    for (const world of worlds.splice(0)) world.close();
  });

  async function ready(): Promise<ShardsUnderTest> {
    const world = shardsOn(program);
    worlds.push(world);
    await world.until('Ready');
    return world;
  }

  const told = ({ status }: ShardsUnderTest) => status.conditions?.find(({ type }) => type === 'Ready');

  /** Reconciles until `Ready` says so. */
  async function untilTold(world: ShardsUnderTest, what: RegExp): Promise<string> {
    return until(
      String(what),
      async () => {
        await world.step();
        const { reason = '', message = '' } = told(world) ?? {};
        if (!what.test(`${reason}: ${message}`)) throw new Error(`${reason}: ${message}`);
        return message;
      },
      { withinMs: 120_000, everyMs: 300 },
    );
  }

  /** Each command of the message, on the pod that it names. */
  async function follow(world: ShardsUnderTest, message: string): Promise<readonly string[]> {
    const [, pod = ''] = / on (db-s\d-\d)/.exec(message) ?? [];
    const commands = message.match(/CLUSTER [A-Z]+(?: [A-Z]+)?(?: \d+)*/g) ?? [];
    for (const command of commands) {
      const [name = '', ...args] = command.split(' ');
      expect(await world.ask(pod, name, ...args)).toMatch(/^(OK|BUMPED|STILL)/);
    }
    return commands;
  }

  const keys = Array.from({ length: 40 }, (_, i) => `key:${i}`);
  async function fill(world: ShardsUnderTest): Promise<void> {
    for (const key of keys) await world.client('SET', key, key);
    await until('the replicas have them', async () => {
      for (const shard of ['db-s0', 'db-s1', 'db-s2']) {
        const counts = await Promise.all([0, 1].map((i) => world.ask(`${shard}-${i}`, 'DBSIZE')));
        if (counts[0] !== counts[1]) throw new Error(counts.join());
      }
    });
  }
  const lost = async (world: ShardsUnderTest): Promise<number> => {
    const values = await Promise.all(keys.map((key) => world.client('GET', key)));
    return values.filter((value) => value === null).length;
  };

  async function loseShard(world: ShardsUnderTest): Promise<string> {
    for (const pod of ['db-s1-0', 'db-s1-1']) world.kill(pod);
    for (const pod of ['db-s1-0', 'db-s1-1']) world.start(pod, { elsewhere: true, blank: true });
    return untilTold(world, /^DataLost: .*CLUSTER /);
  }

  it('DataLost: the slots are served again, empty, and the others keep their keys', async () => {
    const world = await ready();
    await fill(world);
    const message = await loseShard(world);
    expect(await follow(world, message)).toEqual(['CLUSTER BUMPEPOCH', 'CLUSTER ADDSLOTSRANGE 5461 10921']);
    await world.until('Ready');
    for (let i = 0; i < 10; i++) await world.step();
    expect(world.status.phase).toBe('Ready');
    expect(world.status.members?.filter(({ shard }) => shard === 'db-s1').map(({ role }) => role)).toHaveLength(2);
    const gone = await lost(world);
    expect(gone).toBeGreaterThan(0);
    expect(gone).toBeLessThan(keys.length);
    await fill(world);
    expect(await lost(world)).toBe(0);
  }, 400_000);

  it.each([1, 2])(
    'DataLost: also where %d of the new nodes have been given the slots without a newer epoch before',
    async (nodes) => {
      const world = await ready();
      await loseShard(world);
      for (const pod of ['db-s1-0', 'db-s1-1'].slice(0, nodes)) {
        // Refused where it has heard of the first.
        await world.ask(pod, 'CLUSTER', 'ADDSLOTSRANGE', '5461', '10921').catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 1_500));
      }
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      // By chance a new node has the newest epoch, and keeps the slots.
      await until(
        'it serves',
        async () => {
          await world.step();
          const { reason = '', message = '' } = told(world) ?? {};
          if (/DataLost|ShardDown/.test(reason) && message.includes('CLUSTER ')) await follow(world, message);
          if (world.status.phase !== 'Ready') throw new Error(`${reason}: ${message}`);
        },
        { everyMs: 300 },
      );
      expect(await world.client('SET', 'key:1', 'v')).toBe('OK');
    },
    400_000,
  );

  it('ShardDown: a replica that the primaries do not elect becomes primary with all its keys', async () => {
    const world = await ready();
    await fill(world);
    world.kill('db-s1-1');
    world.kill('db-s1-0');
    world.start('db-s1-0', { elsewhere: true, blank: true });
    world.start('db-s1-1');
    const message = await untilTold(world, /^ShardDown: .*CLUSTER FAILOVER/);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await follow(world, message)).toEqual(['CLUSTER FAILOVER FORCE']);
    await world.until('Ready');
    expect(await lost(world)).toBe(0);
  }, 400_000);

  it('ShardDown: where most primaries are lost, one after the other is made primary', async () => {
    const world = await ready();
    await fill(world);
    for (const shard of ['db-s1', 'db-s2']) {
      for (const pod of [`${shard}-1`, `${shard}-0`]) world.kill(pod);
      world.start(`${shard}-0`, { elsewhere: true, blank: true });
      world.start(`${shard}-1`);
    }
    const first = await untilTold(world, /^ShardDown: .*CLUSTER FAILOVER TAKEOVER on db-s[12]-1/);
    await follow(world, first);
    const second = await untilTold(world, /^ShardDown: .*CLUSTER FAILOVER FORCE on db-s[12]-1/);
    await follow(world, second);
    await world.until('Ready');
    expect(await lost(world)).toBe(0);
  }, 400_000);
});
