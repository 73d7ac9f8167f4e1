import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Directive,
  isKnown,
  type RedisDirective,
  redisDirectives,
} from '../../../src/engines/redis/kind/directives.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { quote, redisConf } from '../../../src/engines/redis/resources/config.ts';
import {
  dynamicSettings,
  restartSettings,
  settingsToChange,
  settingsToHold,
} from '../../../src/engines/redis/resources/settings.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { serverPrograms } from '../../support/redis-program.ts';
import { type RedisServer, startRedisServer } from '../../support/redis-server.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const directives = Object.entries(redisDirectives) as readonly (readonly [RedisDirective, Directive])[];
/** All values that a directive takes. */
function values([name, { schema }]: readonly [RedisDirective, Directive]): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema.minimum ?? 0, name === 'maxclients' ? 1000 : (schema.maximum ?? 0));
    default:
      if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
      // The pattern of sizes goes up to 99999999gb, which no machine has; the notation is what is tested.
      if (schema.pattern?.includes('mb') === true) return sizes(schema.pattern.includes('kb'));
      return fc
        .stringMatching(new RegExp(schema.pattern ?? ''))
        .filter((text) => text.length <= (schema.maxLength ?? 0));
  }
}

/** Any number between the bounds, the bounds themselves often. */
function integers(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
}

function sizes(inKilobytes: boolean): fc.Arbitrary<string> {
  const unit = fc.constantFrom(...(inKilobytes ? ['kb', 'mb', 'gb'] : ['mb', 'gb']));
  return fc.tuple(fc.integer({ min: 1, max: 3 }), unit).map(([amount, of]) => `${amount}${of}`);
}

/** Directives that take any text and do nothing with it here, in each version. */
const texts = [
  'masteruser',
  'masterauth',
  'syslog-ident',
  'replica-announce-ip',
  'server_cpulist',
  'bio_cpulist',
  'aof_rewrite_cpulist',
  'bgsave_cpulist',
] as const;

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])(
  'on $name',
  ({ engine, version, server: program }) => {
    const known = directives.filter(([, directive]) => isKnown(directive, { engine, version }));
    const config = fc.record(Object.fromEntries(known.map((entry) => [entry[0], values(entry)])), { requiredKeys: [] });

    /** A spec that says what the server is, so that it is told nothing that it does not know. */
    const specOf = (chosen: Readonly<Record<string, unknown>> = {}): RedisSpecInput => ({
      engine,
      version,
      replicas: 9,
      resources: { limits: { memory: '900Ti' } },
      config: chosen,
    });
    const start = (text = ''): Promise<RedisServer> => startRedisServer(text, undefined, program);

    let fresh: RedisServer;
    let busy: RedisServer;

    beforeAll(async () => {
      [fresh, busy] = await Promise.all([start(), start()]);
    });
    afterAll(async () => {
      await Promise.all([fresh.stop(), busy.stop()]);
    });

    it('the defaults are those of the server, but for those that we choose ourselves', async () => {
      const cluster = redisCluster({ ...specOf(), mode: 'Standalone', replicas: 1 });
      const ours = { ...dynamicSettings(cluster), ...restartSettings(cluster) };
      const theirs = await fresh.settings(...known.map(([name]) => name));
      expect(Object.keys(theirs).sort()).toEqual(known.map(([name]) => name).sort());
      const chosen = Object.entries(ours).filter(([name, value]) => theirs[name] !== value);
      // maxmemory follows from the memory limit, and the limit of open files cuts maxclients down.
      expect(chosen.map(([name]) => name).filter((name) => name !== 'maxclients')).toEqual([
        'maxmemory',
        'maxmemory-clients',
        'repl-backlog-size',
      ]);
    });

    it('every value is read back as it was, however hostile', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(hostileText, { minLength: texts.length, maxLength: texts.length }),
          async (chosen) => {
            const server = await start(chosen.map((value, i) => `${texts[i]} ${quote(value)}`).join('\n'));
            try {
              const read = await server.settings(...texts);
              expect(texts.map((name) => read[name])).toEqual(chosen);
            } finally {
              await server.stop();
            }
          },
        ),
        { numRuns: 15 },
      );
    });

    it('every valid config starts it, and reads back as we say', async () => {
      await fc.assert(
        fc.asyncProperty(config, async (chosen) => {
          const cluster = redisCluster(specOf(chosen));
          const server = await start(redisConf(cluster).replace(/^dir .*$/m, ''));
          try {
            const wanted = { ...settingsToHold(cluster), ...restartSettings(cluster) };
            expect(settingsToChange(wanted, await server.settings(...Object.keys(wanted)))).toEqual({});
          } finally {
            await server.stop();
          }
        }),
        { numRuns: 10 },
      );
    });

    it('every valid config is taken by CONFIG SET, and nothing is left to change', async () => {
      await fc.assert(
        fc.asyncProperty(config, async (chosen) => {
          const wanted = settingsToHold(redisCluster(specOf(chosen)));
          await busy.command('CONFIG', 'SET', ...Object.entries(wanted).flat());
          expect(settingsToChange(wanted, await busy.settings(...Object.keys(wanted)))).toEqual({});
        }),
        { numRuns: 100 },
      );
    });
  },
);
