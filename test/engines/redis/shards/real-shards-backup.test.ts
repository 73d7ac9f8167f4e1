/** Backups of Redis Clusters of real servers, and new clusters of them, driven by the agent, the planner and the actions as the operator does it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restoredAnnotation } from '../../../../src/engine/backup-support.ts';
import { redisBackup } from '../../../../src/engines/redis/backup/support.ts';
import type { RedisSpecInput } from '../../../../src/engines/redis/kind/schema.ts';
import { expectResult, runAgent } from '../../../support/agent-context.ts';
import { type ShardsUnderTest, shardsOn } from '../../../support/operated-shards.ts';
import { serverPrograms } from '../../../support/redis-program.ts';
import { redisCluster } from '../../../support/redis-situation.ts';

const keys = Array.from({ length: 120 }, (_, i) => `key:${i}`);

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('a cluster of $name', (program) => {
  const worlds: ShardsUnderTest[] = [];
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'shards-backup-'));
    writeFileSync(join(home, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
  });
  afterEach(() => {
    for (const world of worlds.splice(0)) world.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  function made(spec: RedisSpecInput = {}): ShardsUnderTest {
    const world = shardsOn(program, spec);
    worlds.push(world);
    return world;
  }
  const store = () => ({
    target: { type: 'claim', directory: home, prefix: '' },
    encryptionKeyFile: join(home, 'key'),
  });
  const clusterOf = (spec: RedisSpecInput) =>
    redisCluster({ mode: 'Cluster', engine: program.engine, version: program.version, ...spec });

  async function backedUp(world: ShardsUnderTest, spec: RedisSpecInput = {}) {
    const [user, password] = world.identity;
    writeFileSync(join(home, 'identity'), password);
    const { source } = redisBackup.source(clusterOf(spec));
    const { shards } = source as unknown as { readonly shards: readonly { members: readonly { host: string }[] }[] };
    const hosts = shards.map(({ members }) => ({
      members: members.map(({ host }) => ({ host: world.nodes.get(host.split('.', 1)[0] ?? '')?.address, port: 6379 })),
    }));
    return runAgent({
      task: 'take',
      cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid' },
      purpose: { type: 'backup', name: 'now' },
      source: { engine: 'redis', shards: hosts, identity: { user, passwordFile: join(home, 'identity') } },
      ...store(),
    });
  }

  /** A new world whose first volumes are as the Jobs of a restore leave them. */
  async function restored(spec: RedisSpecInput = {}): Promise<ShardsUnderTest> {
    const world = made(spec);
    const template = redisBackup.restoreTemplate(clusterOf(spec));
    for (const { set, destination } of [template, ...(template.others ?? [])]) {
      const directory = world.volume(`${set}-0`);
      mkdirSync(directory, { recursive: true });
      const task = { task: 'fetch', which: {}, destination: { ...destination, directory }, ...store() };
      const { told = '', backup } = expectResult(await runAgent(task), 'fetched');
      world.claims.set(`${set}-0`, { [restoredAnnotation]: backup.folder, ...template.annotationsOf?.(told) });
    }
    return world;
  }

  const fill = async (world: ShardsUnderTest): Promise<void> => {
    for (const key of keys) await world.client('SET', key, `value of ${key}`);
  };
  const lost = async (world: ShardsUnderTest): Promise<string[]> => {
    const missing: string[] = [];
    for (const key of keys) if ((await world.client('GET', key)) !== `value of ${key}`) missing.push(key);
    return missing;
  };
  const slotsIn = ({ status }: ShardsUnderTest) =>
    (status.members ?? []).filter(({ role }) => role === 'primary').map(({ name, slots }) => [name, slots]);

  it('comes back with every key and the same slots, one write at a time, while its first nodes are killed, and is resharded then', async () => {
    const old = made();
    await old.until('Ready');
    await fill(old);
    const { backup } = expectResult(await backedUp(old), 'taken');
    expect(backup.contents).toEqual({ shards: '3', 'keys.0': String(keys.length) });
    const wanted = slotsIn(old);
    old.close();

    const world = await restored();
    let looks = 0;
    const done = await world.until(
      'Ready',
      () => true,
      1,
      async () => {
        looks += 1;
        if (looks !== 3 && looks !== 6) return;
        for (const pod of ['db-s0-0', 'db-s1-0']) {
          await world.killed(pod);
          world.start(pod);
        }
      },
    );
    expect(new Set(done.filter((words) => words.startsWith('give slots'))).size).toBe(3);
    expect(slotsIn(world)).toEqual(wanted);
    expect(await lost(world)).toEqual([]);

    world.spec = { shards: 4 };
    await world.until('Ready', () => world.primaries().length === 4);
    expect(await lost(world)).toEqual([]);
  }, 600_000);

  it('is not formed without the data of one shard: no slot is given to anybody', async () => {
    const old = made();
    await old.until('Ready');
    await fill(old);
    expectResult(await backedUp(old), 'taken');
    old.close();
    const world = await restored();
    // The volume is there, and what was on it is not.
    rmSync(world.volume('db-s1-0'), { recursive: true });
    const done = await world.until('Blocked');
    expect(done.filter((words) => words.startsWith('give slots'))).toEqual([]);
    expect(world.status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      reason: 'FormationInterrupted',
      message: expect.stringMatching(/db-s1-0 is empty, and \d+ keys were put there: no cluster is formed/),
    });
  }, 400_000);
});
