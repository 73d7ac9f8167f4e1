/**
 * What servers in cluster mode do with the data of a backup on a volume that has no `nodes.conf`: the facts that a restore into a Redis Cluster
 * stands on.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { myselfIn } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import {
  allSlots,
  differenceOf,
  intersectionOf,
  type SlotSet,
  slotArguments,
} from '../../../../src/engines/redis/kind/slots.ts';
import { expectResult, runAgent } from '../../../support/agent-context.ts';
import { serverPrograms } from '../../../support/redis-program.ts';
import { clientPassword, formCluster, identity, type ShardStage, shardStage } from '../../../support/redis-shards.ts';

const old = [1, 2, 3];
const restored = [11, 12, 13];

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('$name', ({ server }) => {
  let home: string;
  let stage: ShardStage;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'restored-'));
    writeFileSync(join(home, 'password'), clientPassword);
    writeFileSync(join(home, 'identity'), identity.password);
    stage = await shardStage(server);
  });
  afterEach(async () => {
    await stage.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Puts the data of a node on the volume of another one, as a restore does. */
  async function copied(from: number, to: number): Promise<void> {
    const target = { type: 'claim', directory: home, prefix: `of-${from}` };
    const source = {
      engine: 'redis',
      members: [{ host: stage.address(from), port: 6379 }],
      passwordFile: join(home, 'password'),
      identity: { user: identity.user, passwordFile: join(home, 'identity') },
    };
    const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid' };
    const purpose = { type: 'backup', name: 'now' };
    expectResult(await runAgent({ task: 'take', cluster, purpose, source, target }), 'taken');
    const directory = stage.directory(to);
    mkdirSync(directory, { recursive: true });
    const destination = { engine: 'redis', directory };
    expectResult(await runAgent({ task: 'fetch', target, which: {}, destination }), 'fetched');
  }

  const slotsOf = async (node: number): Promise<SlotSet> => myselfIn(await stage.view(node)).slots;

  it('takes the slots of its keys by itself, may get the others and an epoch, and forms a cluster with all keys', async () => {
    await formCluster(stage, old);
    const names = Array.from({ length: 200 }, (_, i) => `key:${i}`);
    for (const name of names) {
      for (const node of old) {
        await stage
          .ask(node, 'SET', name, `value of ${name}`)
          .catch(({ message }: Error) => expect(message).toMatch(/^MOVED/));
      }
    }
    const sizes = await Promise.all(old.map((node) => stage.ask(node, 'DBSIZE')));
    for (const [i, node] of old.entries()) await copied(node, restored[i] ?? 0);
    const maps = await Promise.all(old.map(slotsOf));
    for (const node of old) await stage.kill(node);

    await stage.start(...restored);
    for (const [i, node] of restored.entries()) {
      const wanted = maps[i] ?? [];
      const own = await slotsOf(node);
      expect(own.length).toBeGreaterThan(0);
      expect(differenceOf(own, wanted)).toEqual([]);
      expect(myselfIn(await stage.view(node))).toMatchObject({ epoch: 0, role: 'primary' });
      // It is killed after each step, and goes on.
      await stage.kill(node);
      await stage.start(node);
      expect(await slotsOf(node)).toEqual(own);
      await stage.ask(node, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
      await stage.ask(node, 'CLUSTER', 'ADDSLOTSRANGE', ...slotArguments(differenceOf(wanted, own)));
      await stage.kill(node);
      await stage.start(node);
      expect(await slotsOf(node)).toEqual(wanted);
      expect(myselfIn(await stage.view(node)).epoch).toBe(i + 1);
      expect(await stage.ask(node, 'DBSIZE')).toBe(sizes[i]);
    }
    for (const node of restored.slice(1)) await stage.ask(11, 'CLUSTER', 'MEET', stage.address(node), '6379');
    await stage.untilWhole(...restored);
    const owned = await Promise.all(restored.map(slotsOf));
    expect(owned).toEqual(maps);
    expect(
      intersectionOf(
        allSlots,
        owned.flat().sort((a, b) => a.first - b.first),
      ),
    ).toEqual(allSlots);
    const lost: string[] = [];
    for (const name of names) {
      const found = await Promise.allSettled(restored.map((node) => stage.ask(node, 'GET', name)));
      if (!found.some((each) => each.status === 'fulfilled' && each.value === `value of ${name}`)) lost.push(name);
    }
    expect(lost).toEqual([]);
  }, 300_000);
});
