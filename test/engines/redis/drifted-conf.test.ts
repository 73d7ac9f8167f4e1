/** Whatever somebody makes of redis.conf in the ConfigMap, a node that starts reads what its volume holds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisConf } from '../../../src/engines/redis/resources/config.ts';
import { runPodScript } from '../../support/pod-scripts.ts';
import { type RedisProcess, startRedis } from '../../support/redis-process.ts';
import { serverPrograms } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const without = (name: string, text: string): string => text.replace(new RegExp(`^${name} .*\n`, 'm'), '');

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])(
  '$name',
  { timeout: 30_000 },
  ({ engine, version, server: program }) => {
    const whole = redisConf(
      redisCluster({ engine, version, mode: 'Standalone', replicas: 1, config: { databases: 32 } }),
    );
    const volume = mkdtempSync(join(tmpdir(), 'drifted-conf-'));
    afterAll(() => rmSync(volume, { recursive: true }));

    /** What the start script leaves to the server, with a redis.conf of this text in the place of the included one. */
    async function start(redisConfText: string): Promise<RedisProcess> {
      const { conf } = await runPodScript('start-data.sh', {
        config: { sentinels: '' },
        mark: '10.0.0.1',
        databases: '32',
      });
      expect(conf[0]).toBe('include config/redis.conf');
      const lines = [...redisConfText.split('\n'), ...conf.slice(1)];
      const config = lines
        .filter((line) => !/^(port|bind) /.test(line))
        .map((line) => (line === 'dir /data' ? `dir ${volume}` : line));
      return startRedis({ program, config, password: 'pw' });
    }

    beforeAll(async () => {
      const server = await start(whole);
      try {
        await server.command('SELECT', '20');
        await server.command('SET', 'key', 'kept');
      } finally {
        await server.stop();
      }
    });

    it.each([
      ['whole', whole],
      ['without appendonly', without('appendonly', whole)],
      ['without dir', without('dir', whole)],
      ['without databases', without('databases', whole)],
      ['without anything', ''],
      ['with the opposite', 'appendonly no\ndir /tmp\ndatabases 1\n'],
      ['with other names', `${whole}appenddirname elsewhere\nappendfilename other.aof\n`],
    ])('finds its data %s', async (_story, text) => {
      const server = await start(text);
      try {
        expect(await server.command('INFO', 'keyspace')).toMatch(/^# Keyspace\r\ndb20:keys=1,/);
        await server.command('SELECT', '20');
        expect(await server.command('GET', 'key')).toBe('kept');
      } finally {
        await server.stop();
      }
    });
  },
);

it('without the list of the sentinels a node does not start', async () => {
  const { code, started } = await runPodScript('start-data.sh', { config: { sentinels: undefined }, mark: '10.0.0.1' });
  expect(started).toBeUndefined();
  expect(code).not.toBe(0);
});

describe('the number of databases', () => {
  const single = { config: { sentinels: '' }, mark: '10.0.0.1' };

  it.each([
    ['comes with the pod', '32', undefined, '32', '32'],
    ['grows', '32', '16', '32', '32'],
    [
      'is what the volume was used with, where a cluster asks for less: keys of one would be put into another',
      '16',
      '32',
      '32',
      '32',
    ],
    ['of a pod that was told of none is that of the volume', undefined, '32', '32', '32'],
    ['or what redis.conf says', undefined, undefined, undefined, undefined],
    ['is what the pod says where the volume tells nonsense', '16', '32; reboot', '16', '16'],
    ['nor is a number that is none', '16', '99999', '16', '16'],
  ])('%s', async (_, told, used, started, kept) => {
    const story = {
      ...single,
      ...(told === undefined ? {} : { databases: told }),
      ...(used === undefined ? {} : { used }),
    };
    const end = await runPodScript('start-data.sh', story);
    const found = end.conf.find((line) => line.startsWith('databases '));
    expect([found?.slice('databases '.length), end.used]).toEqual([started, kept]);
  });

  it('is noted by the probes of a pod that was started before it was', async () => {
    const { used } = await runPodScript('ping.sh', { ...single, databases: '32', cli: { '*ping': 'PONG', '*': '' } });
    expect(used).toBe('32');
  });
});
