/**
 * Whose files and copies a server takes, on real servers of each engine and version: what the table in `kind/server.ts` says.
 * And the way to Valkey for what it does not take: by commands.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atLeast, canRead } from '../../../src/engines/redis/kind/server.ts';
import { redisConf } from '../../../src/engines/redis/resources/config.ts';
import { type RedisProcess, startRedis } from '../../support/redis-process.ts';
import { type ServerProgram, serverProgram, serverPrograms } from '../../support/redis-program.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { until } from '../../support/until.ts';

const persistent = ['appendonly yes', 'repl-diskless-sync-delay 0', 'enable-debug-command yes'];

const pairs = serverPrograms.flatMap((writer) => serverPrograms.map((reader) => ({ writer, reader })));
const named = pairs.map(({ writer, reader }) => [reader.name, writer.name, reader, writer] as const);

let home: string;
let started: RedisProcess[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'handover-'));
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((server) => server.stop()));
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

async function start(
  { server }: ServerProgram,
  directory: string,
  more: readonly string[] = [],
): Promise<RedisProcess> {
  const running = await startRedis({
    program: server,
    config: [...persistent, ...more],
    directory: join(home, directory),
  });
  started.push(running);
  return running;
}

/** A key of each type, in two databases, and a function. */
async function fill({ command }: RedisProcess): Promise<unknown> {
  await command('DEBUG', 'POPULATE', '2000', 'key', '100');
  await command('SET', 'brief', 'x', 'EX', '100000');
  await command('RPUSH', 'list', 'a', 'b', 'c');
  await command('SADD', 'numbers', '1', '2');
  await command('SADD', 'words', 'x', 'y');
  await command('ZADD', 'scores', '1', 'a', '2', 'b');
  await command('HSET', 'hash', 'a', '1', 'b', '2');
  await command('PFADD', 'visitors', 'a', 'b');
  await command('SETBIT', 'bits', '100', '1');
  await command('XADD', 'stream', '1-1', 'field', 'value');
  await command('XGROUP', 'CREATE', 'stream', 'group', '0');
  await command('XREADGROUP', 'GROUP', 'group', 'me', 'COUNT', '1', 'STREAMS', 'stream', '>');
  await command('FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function() return 1 end)");
  await command('SELECT', '3');
  await command('SET', 'other', 'database');
  return command('DEBUG', 'DIGEST');
}

async function rewritten({ command }: RedisProcess): Promise<void> {
  await command('BGREWRITEAOF');
  await until('the file is rewritten', async () => {
    const text = String(await command('INFO', 'persistence'));
    if (!/aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(text)) throw new Error('not yet');
  });
}

describe.skipIf(serverPrograms.length < 2)('a server of another engine or version', () => {
  it.each(named)('%s on the volume of %s', async (_reader, _writer, reader, writer) => {
    const first = await start(writer, 'first');
    const digest = await fill(first);
    await rewritten(first);
    await first.command('SELECT', '0');
    await first.command('SET', 'last', 'word');
    const end = await first.command('DEBUG', 'DIGEST');
    expect(end).not.toBe(digest);
    first.kill();
    cpSync(join(home, 'first'), join(home, 'second'), { recursive: true });
    if (!canRead(reader, writer)) {
      // It does not begin with nothing: it ends, and leaves the files as they are.
      await expect(start(reader, 'second')).rejects.toThrow(/did not start/);
      expect(readdirSync(join(home, 'second', 'appendonlydir'))).toEqual(
        readdirSync(join(home, 'first', 'appendonlydir')),
      );
      return;
    }
    const second = await start(reader, 'second');
    expect(await second.command('DEBUG', 'DIGEST')).toBe(end);
    expect(await second.command('FCALL', 'f', '0')).toBe(1);
  });

  it.each(named)('%s as a replica of %s', async (_reader, _writer, reader, writer) => {
    const primary = await start(writer, 'primary');
    const digest = await fill(primary);
    const replica = await start(reader, 'replica');
    await replica.command('REPLICAOF', '127.0.0.1', String(primary.port));
    // Valkey 9 writes the format of before for a replica that does not say that it is of 9.
    const isAdapted = writer.engine === 'Valkey' && atLeast(writer.version, '9.0') && reader.name !== 'Redis 7.0';
    const link = async (): Promise<string> => String(await replica.command('INFO', 'replication'));
    if (!canRead(reader, writer) && !isAdapted) {
      await until('it has given the copy up', async () => {
        const text = String(await replica.command('INFO', 'persistence'));
        if (!text.includes('aof_enabled:0')) throw new Error('not yet');
      });
      expect(await link()).toContain('master_link_status:down');
      return;
    }
    await until('it has its link', async () => {
      if (!(await link()).includes('master_link_status:up')) throw new Error('not yet');
    });
    expect(await replica.command('DEBUG', 'DIGEST')).toBe(digest);
  });
});

describe.skipIf(serverPrograms.length < 2)('redis.conf of a cluster that becomes Valkey', () => {
  it.each(serverPrograms)('is read by $name, which may start again meanwhile', async ({ server }) => {
    const text = redisConf(redisCluster({ engine: 'Valkey', version: '8.1', replicas: 3 })).replace(/^dir .*$/m, '');
    const running = await startRedisServer(text, undefined, server);
    await running.stop();
  });
});

/** Answers to commands that come from a file, as `valkey-cli --pipe` sends them. */
function piped(port: number, commands: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let heard = '';
    socket.on('error', reject);
    socket.on('data', (piece: Buffer) => {
      heard += piece.toString('latin1');
      if (heard.endsWith('$3\r\nend\r\n')) socket.end();
    });
    socket.on('close', () => resolve(heard));
    socket.write(commands);
    socket.write('*2\r\n$4\r\nECHO\r\n$3\r\nend\r\n');
  });
}

const later = serverProgram('Redis 8.0');
const targets = serverPrograms.filter(({ engine }) => engine === 'Valkey');

describe.skipIf(later === undefined).each(targets)('from Redis 8.0 to $name', (target) => {
  it('an append-only file of commands is taken', async () => {
    if (later === undefined) return;
    const source = await start(later, 'source', ['aof-use-rdb-preamble no']);
    const digest = await fill(source);
    await rewritten(source);
    const files = readdirSync(join(home, 'source', 'appendonlydir'));
    const base = files.find((name) => name.endsWith('.base.aof')) ?? '';
    const to = await start(target, 'target');
    const heard = await piped(to.port, readFileSync(join(home, 'source', 'appendonlydir', base)));
    expect(heard.split('\r\n').filter((line) => line.startsWith('-'))).toEqual([]);
    expect(await to.command('DEBUG', 'DIGEST')).toBe(digest);
    expect(await to.command('FCALL', 'f', '0')).toBe(1);
    expect(await to.command('TTL', 'brief')).toBeGreaterThan(0);
  });
});
