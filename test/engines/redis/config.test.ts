import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import {
  quote,
  redisConf,
  restartHash,
  sentinelConf,
  sentinelSettings,
} from '../../../src/engines/redis/resources/config.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { redisCluster } from '../../support/redis-situation.ts';

describe('a value in redis.conf', () => {
  it('is refused when it holds a control character', () => {
    for (const value of ['a\nrequirepass x', 'a\rb', '\u0000', '\u007f', 'a\tb']) {
      expect(() => quote(value)).toThrow('control characters');
    }
  });

  it('is one word, whatever it holds', () => {
    fc.assert(
      fc.property(hostileText, (value) => {
        const word = quote(value);
        expect(word).toMatch(/^([A-Za-z0-9._/-]+|"([^"\\]|\\["\\])*")$/);
        expect(word.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1')).toBe(value);
      }),
    );
  });
});

describe('redis.conf', () => {
  it('of a small cluster', () => {
    const lines = redisConf(
      redisCluster({ version: '7.0', config: { 'notify-keyspace-events': 'Kg$', hz: 50 } }),
    ).split('\n');
    const untouched = redisConf(redisCluster({ version: '7.0', mode: 'Standalone', replicas: 1 })).split('\n');
    expect(lines.filter((line) => !untouched.includes(line))).toMatchInlineSnapshot(`
      [
        "notify-keyspace-events "Kg$"",
        "min-replicas-to-write 1",
        "hz 50",
      ]
    `);
    expect(untouched.slice(0, 15)).toMatchInlineSnapshot(`
      [
        "port 6379",
        "bind * -::*",
        "protected-mode no",
        "dir /data",
        "appendonly yes",
        "save """,
        "aof-use-rdb-preamble yes",
        "repl-diskless-sync yes",
        "repl-diskless-sync-delay 0",
        "shutdown-timeout 10",
        "propagation-error-behavior panic-on-replicas",
        "databases 16",
        "io-threads 1",
        "maxmemory 322122547",
        "maxmemory-clients 67108864",
      ]
    `);
  });

  it('hashes to the same until a restart is due', () => {
    const hash = (spec: RedisSpecInput): string => restartHash(redisCluster(spec));
    expect(hash({ config: { timeout: 5, maxmemory: '100mb' }, replicas: 5 })).toBe(hash({}));
    expect(hash({ config: { 'io-threads': 2 } })).not.toBe(hash({}));
    expect(hash({ config: { databases: 17 } })).not.toBe(hash({}));
    expect(hash({ config: { databases: 16, 'io-threads': 1 } })).toBe(hash({}));
  });
});

describe('sentinel.conf', () => {
  it('says what SENTINEL SET would', () => {
    const cluster = redisCluster({ replicas: 4, sentinel: { downAfter: '1500ms', failoverTimeout: '1m' } });
    expect(sentinelConf(cluster).trim().split('\n')).toEqual([
      'sentinel down-after-milliseconds db 1500',
      'sentinel failover-timeout db 60000',
      'sentinel parallel-syncs db 3',
    ]);
    expect(sentinelSettings(cluster).quorum).toBe('2');
    expect(sentinelSettings(redisCluster({ replicas: 1 }))['parallel-syncs']).toBe('1');
  });
});
