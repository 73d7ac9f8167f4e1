import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingClaims, findingsOf, pingAnswer } from '../../../src/engines/redis/client/findings.ts';
import { infoFields } from '../../../src/engines/redis/client/reply-fields.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { installedVersion, type RedisServer, startRedisServer } from '../../support/redis-server.ts';

const full = 'MISCONF Errors writing to the AOF file: No space left on device';
const link = { role: 'slave', master_port: '6379', master_link_status: 'down', master_sync_in_progress: '0' };

describe('a data node', () => {
  it.each<readonly [story: string, info: Readonly<Record<string, string>>, ping: string, found: readonly string[]]>([
    ['is well', { role: 'master', aof_last_write_status: 'ok', rdb_last_bgsave_status: 'ok' }, 'PONG', []],
    ['says nothing about it', {}, 'PONG', []],
    ['loads', { role: 'slave' }, 'LOADING Redis is loading the dataset in memory', []],
    ['has a full disk', { role: 'master', aof_last_write_status: 'err' }, full, ['DiskFull!', 'PersistenceFailing!']],
    [
      'is over its quota',
      {},
      'MISCONF Errors writing to the AOF file: Disk quota exceeded',
      ['DiskFull!', 'PersistenceFailing!'],
    ],
    [
      'cannot write for another reason',
      {},
      'MISCONF Errors writing to the AOF file: Input/output error',
      ['PersistenceFailing!'],
    ],
    ['cannot write, and takes writes still', { aof_last_write_status: 'err' }, 'PONG', ['PersistenceFailing!']],
    [
      'could not rewrite its file: a restart may be the way out',
      { aof_last_bgrewrite_status: 'err' },
      'PONG',
      ['PersistenceFailing'],
    ],
    ['could not save', { rdb_last_bgsave_status: 'err' }, 'PONG', ['PersistenceFailing']],
    [
      'refuses writes for want of replicas',
      { role: 'master', min_slaves_good_slaves: '0' },
      'PONG',
      ['ReplicationBroken'],
    ],
    ['has as many replicas as it needs', { role: 'master', min_slaves_good_slaves: '1' }, 'PONG', []],
    ['lost its link for good', { ...link, master_link_down_since_seconds: '10' }, 'PONG', ['ReplicationBroken']],
    ['lost its link just now, as in a failover', { ...link, master_link_down_since_seconds: '9' }, 'PONG', []],
    ['has never had one', { ...link, master_link_down_since_seconds: '-1' }, 'PONG', []],
    ['copies', { ...link, master_sync_in_progress: '1', master_link_down_since_seconds: '99' }, 'PONG', []],
    ['has its link again', { ...link, master_link_status: 'up', master_link_down_since_seconds: '10' }, 'PONG', []],
    ['is neither', { ...link, role: 'sentinel', master_link_down_since_seconds: '10' }, 'PONG', []],
    ['follows nobody', { ...link, master_port: '1', master_link_down_since_seconds: '99' }, 'PONG', []],
  ])('%s', (_, info, ping, found) => {
    const types = findingsOf('db-0', info, ping, 1).map((one) => `${one.type}${one.holdsRestarts === true ? '!' : ''}`);
    expect(types).toEqual(found);
  });

  it('is fenced by its pod, and the message says so', () => {
    const [finding] = findingsOf('db-0', { role: 'master', min_slaves_good_slaves: '1' }, 'PONG', 1_000_000);
    expect([finding?.type, finding?.message]).toEqual([
      'ReplicationBroken',
      'db-0 refuses writes: it is cut off from the sentinels and replicas, or they have another primary (sentinel.fence)',
    ]);
    expect(findingsOf('db-1', { role: 'slave' }, 'PONG', 1_000_000)).toEqual([]);
  });

  it('is quoted, as far as a status takes it', () => {
    const [finding] = findingsOf('db-0', {}, `${full} ${'x'.repeat(5000)}`, 0);
    expect(finding?.message).toMatch(
      /^the volume of db-0 is full, and it refuses writes: MISCONF Errors writing to the AOF/,
    );
    expect(finding?.message.length).toBeLessThan(300);
  });
});

it('conditions say of each type what the members say of it', () => {
  const claims = findingClaims([
    { type: 'DiskFull', message: 'one' },
    { type: 'PersistenceFailing', message: 'two' },
    { type: 'DiskFull', message: 'three' },
  ]);
  expect(claims.map(({ type, message }) => [type, message])).toEqual([
    ['DiskFull', 'one; three'],
    ['PersistenceFailing', 'two'],
  ]);
});

it('an error of the server is an answer to PING, and another one is none', async () => {
  const answering = (error: Error) => pingAnswer({ command: () => Promise.reject(error) });
  expect(await answering(new RedisError('LOADING'))).toBe('LOADING');
  const broken = new Error('the connection has ended');
  await expect(answering(broken)).rejects.toBe(broken);
});

describe.skipIf(installedVersion === undefined)('a real server (needs redis-server on the PATH)', () => {
  let directory = '';

  async function found(config: string, prepare: () => void, change: (ask: RedisServer['command']) => Promise<unknown>) {
    const server = await startRedisServer(config, (at) => {
      directory = at;
      prepare();
    });
    const look = async (): Promise<string[]> => {
      const info = infoFields(String(await server.command('INFO')));
      return findingsOf('db-0', info, await pingAnswer(server), 1).map(({ type }) => type);
    };
    try {
      await change(server.command);
      const deadline = performance.now() + 10_000;
      let types = await look();
      while (types.length === 0 && performance.now() < deadline) types = await look();
      return types;
    } finally {
      await server.stop();
    }
  }

  /** Where an append-only file should grow is a device without room. */
  function brokenFile(): void {
    const files = join(directory, 'appendonlydir');
    mkdirSync(files);
    writeFileSync(join(files, 'appendonly.aof.manifest'), 'file appendonly.aof.1.incr.aof seq 1 type i\n');
    symlinkSync('/dev/full', join(files, 'appendonly.aof.1.incr.aof'));
  }

  it('whose append-only file is on a full disk says so', async () => {
    const types = await found("appendonly yes\nsave ''", brokenFile, (ask) => ask('SET', 'a', 'b'));
    expect(types).toEqual(['DiskFull', 'PersistenceFailing']);
  });

  it('that cannot save says so', async () => {
    const types = await found(
      "save ''\ndbfilename taken",
      () => undefined,
      async (ask) => {
        await ask('SET', 'a', 'b');
        mkdirSync(join(directory, 'taken'));
        await ask('BGSAVE');
      },
    );
    expect(types).toEqual(['PersistenceFailing']);
  });

  it('that refuses writes for want of replicas says so', async () => {
    expect(
      await found(
        'min-replicas-to-write 1',
        () => undefined,
        async () => undefined,
      ),
    ).toEqual(['ReplicationBroken']);
  });
});
