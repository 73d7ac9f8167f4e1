/** Backups of a Redis Cluster of real servers by the agent: a dump of each shard, and none while the slots are not settled. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRestoredShard } from '../../src/engines/redis/client/restored-shard.ts';
import { slotText } from '../../src/engines/redis/kind/slots.ts';
import { agentContext, expectResult, runAgent } from '../support/agent-context.ts';
import { serverPrograms } from '../support/redis-program.ts';
import { formCluster, identity, type ShardStage, shardStage } from '../support/redis-shards.ts';
import { until } from '../support/until.ts';

/** Primaries by shard, and the replica of each. */
const shards = [
  [1, 4],
  [2, 5],
  [3, 6],
] as const;
const primaries = shards.map(([primary]) => primary);
const keys = 300;

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('a Redis Cluster of $name', ({ server }) => {
  let home: string;
  let stage: ShardStage;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'agent-shards-'));
    writeFileSync(join(home, 'identity'), identity.password);
    writeFileSync(join(home, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
    stage = await shardStage(server);
    await formCluster(stage, primaries, { 4: 1, 5: 2, 6: 3 });
  });
  afterEach(async () => {
    await stage.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  const store = () => ({
    target: { type: 'claim', directory: home, prefix: 'backups' },
    encryptionKeyFile: join(home, 'key'),
  });
  const take = (nodes: readonly (readonly number[])[] = shards, context = agentContext()) =>
    runAgent(
      {
        task: 'take',
        cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid' },
        purpose: { type: 'backup', name: 'now' },
        source: {
          engine: 'redis',
          shards: nodes.map((shard) => ({ members: shard.map((node) => ({ host: stage.address(node), port: 6379 })) })),
          identity: { user: identity.user, passwordFile: join(home, 'identity') },
        },
        ...store(),
      },
      context,
    );
  const fetch = (directory: string, shard?: object) =>
    runAgent({
      task: 'fetch',
      which: {},
      destination: { engine: 'redis', directory, ...(shard && { shard }) },
      ...store(),
    });
  const write = async (): Promise<number> => {
    let written = 0;
    for (let i = 0; i < keys; i++) {
      for (const node of primaries) {
        await stage.ask(node, 'SET', `key:${i}`, 'x').then(
          () => {
            written += 1;
          },
          ({ message }: Error) => expect(message).toMatch(/^MOVED/),
        );
      }
    }
    return written;
  };
  const failing = (message: string | RegExp, reason = 'SourceBroken') => ({
    result: 'failed',
    reason,
    message: expect.stringMatching(message),
  });

  it('is backed up from the replicas, with the slots of each shard, and fits as many shards and nothing else', async () => {
    expect(await write()).toBe(keys);
    const context = agentContext();
    const { backup } = expectResult(await take(shards, context), 'taken');
    for (const node of [4, 5, 6]) {
      expect(context.lines.join('')).toContain(`"source":"${stage.address(node)}:6379","role":"replica"`);
    }
    expect(backup.contents).toEqual({ shards: '3', 'keys.0': String(keys) });
    const folder = join(home, backup.folder);
    expect(readdirSync(folder).sort()).toEqual(['data-0', 'data-1', 'data-2', 'manifest.json']);
    const { manifest } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
      manifest: { formatVersion: number; parts: object[]; state: { shards: { slots: string; epoch: number }[] } };
    };
    expect(manifest.formatVersion).toBe(3);
    expect(manifest.state.shards.map(({ slots }) => slots)).toEqual(['0-5460', '5461-10922', '10923-16383']);
    expect(manifest.state.shards.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);

    const volume = (name: string): string => {
      mkdirSync(join(home, name), { recursive: true });
      return join(home, name);
    };
    expect(await fetch(volume('v'), { index: 0, count: 4 })).toMatchObject(
      failing(
        /of 3 shards, and the new one has 4: restore it into 3 shards, and change the number afterwards/,
        'Unfit',
      ),
    );
    expect(await fetch(volume('v'))).toMatchObject(failing(/restore it into mode Cluster/, 'Unfit'));
    expect(readdirSync(volume('v'))).toEqual([]);
    for (const index of [0, 1, 2]) {
      const first = expectResult(await fetch(volume(`v${index}`), { index, count: 3 }), 'fetched');
      const told = parseRestoredShard(first.told ?? '');
      expect(slotText(told?.slots ?? [])).toBe(manifest.state.shards[index]?.slots);
      expect(told?.lastingKeys).toBeGreaterThan(50);
      expect(readFileSync(join(home, `v${index}`, 'restored-shard'), 'utf8')).toBe(
        `${manifest.state.shards[index]?.slots}\n`,
      );
      const again = expectResult(await fetch(volume(`v${index}`), { index, count: 3 }), 'fetched');
      expect([first.isRepeated, again.isRepeated, again.told]).toEqual([false, true, first.told]);
    }
  }, 200_000);

  it('is not backed up while a slot is on its way, by nobody, or without a primary', async () => {
    await write();
    const [one, two] = [await stage.id(1), await stage.id(2)];
    await stage.ask(2, 'CLUSTER', 'SETSLOT', '7', 'IMPORTING', one);
    expect(await take()).toMatchObject(failing(/is moving slot 7/));
    await stage.ask(2, 'CLUSTER', 'SETSLOT', '7', 'STABLE');
    await stage.ask(1, 'CLUSTER', 'SETSLOT', '7', 'MIGRATING', two);
    expect(await take()).toMatchObject({ ...failing(/is moving slot 7/), isTransient: true });
    await stage.ask(1, 'CLUSTER', 'SETSLOT', '7', 'STABLE');
    expect(await take(shards.slice(1))).toMatchObject(failing(/no shard that is backed up has slots 0-5460/));
    expect(await take([[4], [2, 5], [3, 6]])).toMatchObject(failing(/no primary of shard 0 answers/));
    expect(
      await take([
        [1, 4, 2, 5],
        [3, 6],
      ]),
    ).toMatchObject(failing(/are of one shard, and both have slots/));
    // Without its replica, the primary gives the data.
    const context = agentContext();
    await stage.kill(4);
    expectResult(await take(shards, context), 'taken');
    expect(context.lines.join('')).toContain(`"source":"${stage.address(1)}:6379","role":"primary"`);
    writeFileSync(join(home, 'identity'), 'of another cluster');
    expect(await take()).toMatchObject(failing(/refuses/, 'SourceRefused'));
  }, 200_000);

  it('leaves nothing behind where the epoch of a primary changes while it is read', async () => {
    await write();
    let isBumped = false;
    const context = agentContext();
    const watching = until(
      'the first dump begins',
      () => {
        if (!context.lines.join('').includes('the dump begins')) throw new Error('not yet');
      },
      { everyMs: 1 },
    ).then(async () => {
      await stage.ask(1, 'CLUSTER', 'BUMPEPOCH');
      isBumped = true;
    });
    const result = await take(shards, context);
    await watching;
    expect(isBumped).toBe(true);
    expect(result).toMatchObject({ ...failing(/has another epoch|does not agree/), isTransient: true });
    expect(existsSync(join(home, 'backups'))).toBe(false);
  }, 200_000);
});
