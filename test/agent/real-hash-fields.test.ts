/** Fields of hashes that expire: Valkey has them since 9.0, and no form for them in the dumps of before. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atLeast } from '../../src/engines/redis/kind/server.ts';
import { expectResult, runAgent } from '../support/agent-context.ts';
import { type RedisProcess, startRedis } from '../support/redis-process.ts';
import { type ServerProgram, serverPrograms } from '../support/redis-program.ts';

const isAble = ({ engine, version }: ServerProgram): boolean => engine === 'Valkey' && atLeast(version, '9.0');

let home: string;
let started: RedisProcess[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hash-fields-'));
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((server) => server.stop()));
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('a backup of $name', (one) => {
  const { server: program } = one;

  it.skipIf(!isAble(one))('gives them back', async () => {
    const config = ['appendonly yes', 'repl-diskless-sync-delay 0'];
    const server = await startRedis({ program, config });
    started.push(server);
    await server.command('HSET', 'hash', 'brief', '1', 'lasting', '2');
    await server.command('HPEXPIRE', 'hash', '1000000', 'FIELDS', '1', 'brief');
    const target = { type: 'claim', directory: home, prefix: 'backups' };
    const taken = await runAgent({
      task: 'take',
      cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' },
      purpose: { type: 'backup', name: 'now' },
      source: { engine: 'redis', members: [{ host: '127.0.0.1', port: server.port }] },
      target,
    });
    expectResult(taken, 'taken');
    const directory = join(home, 'volume');
    mkdirSync(directory);
    const fetched = await runAgent({
      task: 'fetch',
      which: {},
      target,
      destination: { engine: 'redis', directory },
    });
    expectResult(fetched, 'fetched');
    const restored = await startRedis({ program, config, directory });
    started.push(restored);
    const [left] = (await restored.command('HPTTL', 'hash', 'FIELDS', '1', 'brief')) as readonly number[];
    expect(left).toBeGreaterThan(0);
  });
});
