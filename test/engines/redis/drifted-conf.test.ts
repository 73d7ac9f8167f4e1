/** Whatever somebody makes of redis.conf in the ConfigMap, a node that starts reads what its volume holds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisConf } from '../../../src/engines/redis/config.ts';
import { runPodScript } from '../../support/pod-scripts.ts';
import { type RedisProcess, startRedis } from '../../support/redis-process.ts';
import { redisPrograms } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const without = (name: string, text: string): string => text.replace(new RegExp(`^${name} .*\n`, 'm'), '');

describe.skipIf(redisPrograms.size === 0).each([...redisPrograms])(
  'Redis %s',
  { timeout: 30_000 },
  (version, program) => {
    const whole = redisConf(redisCluster({ version, mode: 'Standalone', replicas: 1, config: { databases: 32 } }));
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
