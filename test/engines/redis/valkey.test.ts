/** What differs where a cluster runs Valkey. */
import { describe, expect, it } from 'vitest';
import { redisBackup } from '../../../src/engines/redis/backup/support.ts';
import { redisDefinition } from '../../../src/engines/redis/definition.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { dataNode } from '../../../src/engines/redis/observe/observe.ts';
import { redisConf } from '../../../src/engines/redis/resources/config.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import type { ScriptName } from '../../../src/engines/redis/resources/scripts.ts';
import { runPodScript } from '../../support/pod-scripts.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const valkey = { engine: 'Valkey', version: '8.1' } as const;

describe.each(['db', 'db-sentinel'])('the StatefulSet %s', (name) => {
  const of = (spec: RedisSpecInput) => {
    const found = redisResources(redisCluster(spec)).find(
      ({ object }) => object.kind === 'StatefulSet' && object.metadata.name === name,
    );
    if (found === undefined) throw new Error(`no ${name}`);
    return found.object;
  };

  it('differs from that of Redis in its image and the name of the programs', () => {
    const text = JSON.stringify(of(valkey));
    const ofRedis = text
      .replace('docker.io/valkey/valkey:8.1', 'docker.io/library/redis:8.1')
      .replace(',{"name":"SERVER","value":"valkey"}', '');
    expect(ofRedis.length).toBeLessThan(text.length);
    expect(ofRedis).toBe(JSON.stringify(of({ ...valkey, engine: 'Redis' })));
  });

  it('is that of before where the engine is Redis', () => {
    expect(of({ engine: 'Redis' })).toEqual(of({}));
    expect(JSON.stringify(of({}))).not.toContain('SERVER');
  });
});

it('a server of another engine or version that starts again in the middle of a change can read the file', () => {
  const text = redisConf(redisCluster(valkey));
  expect(text).not.toContain('commandlog-');
  expect(text).not.toContain('\nset-max-listpack-');
  expect(redisConf(redisCluster({ version: '8.0' }))).not.toContain('\nset-max-listpack-');
  const chosen = { 'commandlog-reply-larger-than': 10 };
  expect(redisConf(redisCluster({ ...valkey, config: chosen }))).toContain('commandlog-reply-larger-than 10\n');
});

it('people are told the client that its pods have', () => {
  expect(redisDefinition.shell?.('db', { engine: 'Valkey' })).toContain('exec valkey-cli -h db');
  expect(redisDefinition.shell?.('db', {})).toContain('exec redis-cli -h db');
});

describe('a script in a pod of Valkey', () => {
  it.each<readonly [script: ScriptName, started: string]>([
    ['start-data.sh', 'run/redis.conf'],
    ['start-sentinel.sh', 'run/sentinel.conf --sentinel'],
  ])('%s starts its server', async (script, started) => {
    const end = await runPodScript(script, { server: 'valkey', mark: '10.0.0.1' });
    expect(end).toMatchObject({ code: 0, started });
  });

  it.each<ScriptName>(['alive.sh', 'sentinel-alive.sh', 'ping.sh', 'admit.sh', 'watching.sh', 'hand-over.sh'])(
    '%s asks with its client',
    async (script) => {
      const { asked } = await runPodScript(script, { server: 'valkey', mark: '10.0.0.1', cli: { '*': 'PONG' } });
      expect(asked.length).toBeGreaterThan(0);
    },
  );
});

it('the version of a node is that of Valkey', () => {
  const at = { pod: 'db-0', address: '10.0.0.0' };
  expect(dataNode(at, { redis_version: '7.2.4', valkey_version: '8.1.1' }, {}).version).toBe('8.1.1');
});

describe('a backup', () => {
  it('is put back only where the new cluster reads it', () => {
    const version = (spec: RedisSpecInput): unknown =>
      redisBackup.restoreTemplate(redisCluster(spec)).destination.version;
    expect([version(valkey), version({ version: '8.0' })]).toEqual(['Valkey 8.1', '8.0']);
  });

  it('is tried in a cluster of the same engine, also where the original is gone', () => {
    expect(redisBackup.drill(redisCluster(valkey))).toMatchObject(valkey);
    expect(redisBackup.drill(redisCluster({}))).not.toHaveProperty('engine');
    const gone = (written: string): object => ({
      version: redisBackup.specVersion(written),
      ...redisBackup.specFields?.(written),
    });
    expect([gone('Valkey 8.1.1'), gone('8.0.2')]).toEqual([valkey, { engine: 'Redis', version: '8.0' }]);
  });
});
