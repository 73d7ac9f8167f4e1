/** Backups of real Redis servers: taken while somebody writes, put back, compared. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentSurroundings, expectResult, runAgent } from '../support/agent-surroundings.ts';
import { type RedisProcess, startRedis } from '../support/redis-process.ts';
import { redisPrograms } from '../support/redis-program.ts';

const password = 'correct horse battery staple'.replaceAll(' ', '-');
const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' };
/** As shipped. */
const persistent = ['appendonly yes', 'aof-use-rdb-preamble yes', 'repl-diskless-sync-delay 0'];

let home: string;
let started: RedisProcess[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agent-redis-'));
  started = [];
  writeFileSync(join(home, 'password'), `${password}\n`);
  writeFileSync(join(home, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
});
afterEach(async () => {
  await Promise.all(started.map((server) => server.stop()));
  rmSync(home, { recursive: true });
});

const target = () => ({ type: 'claim', directory: home, prefix: 'backups' });

function takeTask(members: readonly RedisProcess[], more: object = {}): object {
  return {
    task: 'take',
    cluster,
    purpose: { type: 'backup', name: 'now' },
    source: {
      engine: 'redis',
      members: members.map(({ port }) => ({ host: '127.0.0.1', port })),
      passwordFile: join(home, 'password'),
    },
    target: target(),
    encryptionKeyFile: join(home, 'key'),
    ...more,
  };
}

const fetchTask = (directory: string): object => ({
  task: 'fetch',
  target: target(),
  encryptionKeyFile: join(home, 'key'),
  which: {},
  destination: { engine: 'redis', directory },
});

describe.skipIf(redisPrograms.size === 0).each([...redisPrograms])('Redis %s', (_, program) => {
  async function start(config: readonly string[] = [], directory?: string): Promise<RedisProcess> {
    const server = await startRedis({
      program,
      password,
      config: [...persistent, 'enable-debug-command yes', ...config],
      ...(directory === undefined ? {} : { directory }),
    });
    started.push(server);
    return server;
  }

  async function following(primary: RedisProcess): Promise<RedisProcess> {
    const replica = await start([`replicaof 127.0.0.1 ${primary.port}`]);
    await expect
      .poll(async () => String(await replica.command('INFO', 'replication')))
      .toContain('master_link_status:up');
    return replica;
  }

  it('gives back every key, of every type and database', async () => {
    const primary = await start();
    await primary.command('DEBUG', 'POPULATE', '20000', 'key', '100');
    await primary.command('XADD', 'stream', '*', 'field', 'value');
    await primary.command('ZADD', 'scores', '1', 'a', '2', 'b');
    await primary.command('SET', 'brief', 'x', 'EX', '1000');
    await primary.command('FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function() return 1 end)");
    await primary.command('SELECT', '3');
    await primary.command('HSET', 'hash', 'a', '1');
    const digest = await primary.command('DEBUG', 'DIGEST');

    const taken = expectResult(await runAgent(takeTask([primary])), 'taken');
    expect(taken.backup).toMatchObject({ engine: 'redis', encrypted: true, cluster });
    expect(taken.backup.state).toMatchObject({ approximateKeys: { 0: 20003, 3: 1 } });

    const volume = join(home, 'volume');
    await expect(runAgent(fetchTask(volume))).resolves.toMatchObject({ reason: 'BadTask' });
    const { mkdirSync } = await import('node:fs');
    mkdirSync(volume);
    expectResult(await runAgent(fetchTask(volume)), 'fetched');
    expect(readdirSync(volume).sort()).toEqual(['appendonlydir', 'initialised', 'restored-from.json']);
    const restored = await start([], volume);
    expect(await restored.command('DEBUG', 'DIGEST')).toBe(digest);
    expect(await restored.command('FCALL', 'f', '0')).toBe(1);
    expect(existsSync(join(volume, 'initialised'))).toBe(true);
  });

  it('is no replica to anybody: not to a sentinel, and not to a primary that wants one', async () => {
    // One dump takes twenty seconds.
    const primary = await start(['rdb-key-save-delay 1000', 'min-replicas-to-write 1']);
    const replica = await following(primary);
    await primary.command('DEBUG', 'POPULATE', '20000', 'key', '100');
    const surroundings = agentSurroundings();
    const task = runAgent(takeTask([primary]), surroundings);
    await expect.poll(() => replication(primary)).toContain('ip=backup.invalid');
    // A sentinel adds what it has not seen before from every INFO of a primary, the first one included.
    const sentinel = await startRedis({
      program,
      isSentinel: true,
      config: [`sentinel monitor cache 127.0.0.1 ${primary.port} 1`, `sentinel auth-pass cache ${password}`],
    });
    started.push(sentinel);
    await expect.poll(() => replicasKnownTo(sentinel)).toContain(`127.0.0.1:${replica.port}`);
    expect(await replicasKnownTo(sentinel)).toEqual([`127.0.0.1:${replica.port}`]);
    await replica.command('REPLICAOF', 'NO', 'ONE');
    await expect.poll(() => replication(primary)).not.toContain('state=online');
    expect(await replication(primary)).toContain('ip=backup.invalid');
    await expect(primary.command('SET', 'a', 'b')).rejects.toThrow(/NOREPLICAS/);
    surroundings.stop();
    expect(await task).toMatchObject({ result: 'failed', reason: 'Stopped' });
  }, 60_000);
});

async function replication(server: RedisProcess): Promise<string> {
  return String(await server.command('INFO', 'replication'));
}

async function replicasKnownTo(sentinel: RedisProcess): Promise<readonly string[]> {
  const reply = await sentinel.command('SENTINEL', 'REPLICAS', 'cache');
  const replicas = Array.isArray(reply) ? (reply as readonly (readonly string[])[]) : [];
  return replicas.map((fields) => String(fields[1]));
}
