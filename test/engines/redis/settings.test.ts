import { describe, expect, it } from 'vitest';
import { redisDirectives } from '../../../src/engines/redis/kind/directives.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { dynamicSettings, restartSettings, settingsToChange } from '../../../src/engines/redis/resources/settings.ts';
import { redisCluster } from '../../support/redis-situation.ts';

describe('settings', () => {
  const dynamic = (spec: RedisSpecInput): Readonly<Record<string, string>> =>
    dynamicSettings(redisCluster(spec)) as Readonly<Record<string, string>>;

  it.each<readonly [story: string, spec: RedisSpecInput, expected: Readonly<Record<string, string>>]>([
    [
      'R2: from three nodes on a primary without a replica stops taking writes',
      {},
      { 'min-replicas-to-write': '1', 'min-replicas-max-lag': '10' },
    ],
    ['R2: two nodes would stop with the first that is away', { replicas: 2 }, { 'min-replicas-to-write': '0' }],
    ['R2: the spec may ask for more', { config: { 'min-replicas-to-write': 2 } }, { 'min-replicas-to-write': '2' }],
    ['R2: or for nothing', { config: { 'min-replicas-to-write': 0 } }, { 'min-replicas-to-write': '0' }],
    ['a node alone has no replicas', { mode: 'Standalone', replicas: 1 }, { 'min-replicas-to-write': '0' }],
    [
      'R10: data fills 60 % of the memory limit',
      { resources: { limits: { memory: '1Gi' } } },
      { maxmemory: '644245094', 'maxmemory-clients': '134217728', 'repl-backlog-size': '33554432' },
    ],
    [
      'R10: with the least memory the buffers have their least, too',
      { resources: { limits: { memory: '64Mi' } } },
      { maxmemory: '40265318', 'maxmemory-clients': '8388608', 'repl-backlog-size': '2097152' },
    ],
    [
      'the backlog does not grow for ever',
      { resources: { limits: { memory: '64Gi' } } },
      { 'repl-backlog-size': '268435456' },
    ],
    ['R10: the spec may ask for less', { config: { maxmemory: '100mb' } }, { maxmemory: '104857600' }],
    [
      'sizes are in bytes',
      { config: { 'repl-backlog-size': '1gb', 'auto-aof-rewrite-min-size': '3kb' } },
      { 'repl-backlog-size': '1073741824', 'auto-aof-rewrite-min-size': '3072' },
    ],
    [
      'flags are yes and no',
      { config: { activerehashing: false, 'lazyfree-lazy-expire': true } },
      { activerehashing: 'no', 'lazyfree-lazy-expire': 'yes' },
    ],
  ])('%s', (_, spec, expected) => expect(dynamic(spec)).toMatchObject(expected));

  it('are what a server makes of them, where it does not keep them as they are', () => {
    const size = (text: string): string | undefined =>
      dynamic({ config: { 'repl-backlog-size': text } })['repl-backlog-size'];
    expect([size('1kb'), size('16kb'), size('17kb')]).toEqual(['16384', '16384', '17408']);
    expect(dynamic({ config: { 'auto-aof-rewrite-min-size': '1kb' } })['auto-aof-rewrite-min-size']).toBe('1024');
  });

  it('name every directive once, as something that is set at once or by a restart', () => {
    const namesIn = (spec: RedisSpecInput): readonly string[] => {
      const cluster = redisCluster(spec);
      return [...Object.keys(dynamicSettings(cluster)), ...Object.keys(restartSettings(cluster))].sort();
    };
    const ofEveryMode = Object.keys(redisDirectives)
      .filter((name) => !name.startsWith('cluster-'))
      .sort();
    const known = (names: readonly string[]): string[] => names.filter((name) => !name.startsWith('commandlog-'));
    expect(namesIn({ version: '8.0' })).toEqual(known(ofEveryMode));
    expect(namesIn({ engine: 'Valkey', version: '8.1' })).toEqual(ofEveryMode.filter((name) => name !== 'dynamic-hz'));
    expect(namesIn({ mode: 'Cluster' })).toEqual(known(Object.keys(redisDirectives).sort()));
  });

  it('leave out what an older server does not know', () => {
    expect(dynamic({ version: '7.0' })).not.toHaveProperty('set-max-listpack-entries');
    expect(dynamic({ version: '7.2' })).toHaveProperty('set-max-listpack-entries', '128');
    expect(dynamic({ engine: 'Valkey', version: '7.2' })).toHaveProperty('set-max-listpack-entries', '128');
    expect(dynamic({ engine: 'Valkey', version: '8.0' })).toHaveProperty('dynamic-hz', 'yes');
    expect(dynamic({ engine: 'Valkey', version: '8.1' })).not.toHaveProperty('dynamic-hz');
    expect(dynamic({ engine: 'Valkey', version: '8.0' })).not.toHaveProperty('commandlog-reply-larger-than');
    expect(dynamic({ engine: 'Valkey', version: '9.1' })).toHaveProperty('commandlog-reply-larger-than', '1048576');
  });

  it('have the defaults of the engine and version', () => {
    const lazy = (spec: RedisSpecInput) => dynamic(spec)['lazyfree-lazy-user-del'];
    expect([lazy({ version: '8.0' }), lazy({ engine: 'Valkey', version: '7.2' })]).toEqual(['no', 'no']);
    expect([lazy({ engine: 'Valkey', version: '8.0' }), lazy({ engine: 'Valkey', version: '9.1' })]).toEqual([
      'yes',
      'yes',
    ]);
  });

  it('to change are those that differ, on servers that know them', () => {
    const actual = { timeout: '5', hz: '10', 'notify-keyspace-events': 'g$KE' };
    expect(settingsToChange({ timeout: '0', hz: '10', 'set-max-listpack-value': '64' }, actual)).toEqual({
      timeout: '0',
    });
    expect(settingsToChange({ 'notify-keyspace-events': 'KEg$' }, actual)).toEqual({});
    expect(settingsToChange({ 'notify-keyspace-events': 'AKA' }, { 'notify-keyspace-events': 'AK' })).toEqual({});
    expect(settingsToChange({ 'notify-keyspace-events': 'KAn' }, { 'notify-keyspace-events': 'AK' })).toEqual({});
    expect(settingsToChange({ 'notify-keyspace-events': 'KA' }, { 'notify-keyspace-events': 'AKn' })).not.toEqual({});
    expect(settingsToChange({ 'notify-keyspace-events': 'Kgn' }, { 'notify-keyspace-events': 'gK' })).not.toEqual({});
    expect(settingsToChange({ 'notify-keyspace-events': 'KEg' }, actual)).toEqual({ 'notify-keyspace-events': 'KEg' });
  });
});
