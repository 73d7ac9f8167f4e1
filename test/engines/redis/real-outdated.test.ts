/** A replica of an older template behind a primary of the new one, as in the middle of a rollout, on real servers. */
import { afterEach, describe, expect, it } from 'vitest';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { dataNode } from '../../../src/engines/redis/observe/observe.ts';
import { redisConf } from '../../../src/engines/redis/resources/config.ts';
import { settingsToChange, settingsToHold } from '../../../src/engines/redis/resources/settings.ts';
import { info } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import type { Stage } from '../../faults/redis/conformance/stage.ts';
import { type ServerProgram, serverProgram, serverPrograms } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';

/** What a pod of this spec is started with, beside what the stage says itself. */
function confOf({ engine, version }: ServerProgram, config: NonNullable<RedisSpecInput['config']>): string[] {
  const cluster = redisCluster({ engine, version, replicas: 2, config });
  return redisConf(cluster)
    .split('\n')
    .filter((line) => !/^(bind|dir|port|maxclients) /.test(line));
}

async function linked(at: Stage, program: ServerProgram, replica: readonly string[]): Promise<void> {
  await at.start('n1', confOf(program, { databases: 32 }));
  await at.start('n2', replica);
  await follow(at);
}

/** A server that has just started may still load its data. */
async function follow(at: Stage): Promise<void> {
  await at.until('it is told', async () => (await at.ask('n2', 'REPLICAOF', at.address('n1'), '6379')) === 'OK');
  await at.until('it has its link', async () => (await info(at, 'n2')).master_link_status === 'up');
}

/** How many replicas have acknowledged what was written. */
async function written(at: Stage, database: string, value: string, withinMs = 5000): Promise<unknown> {
  const talk = await at.open('n1');
  await talk.say('SELECT', database);
  await talk.say('SET', 'key', value);
  const acknowledged = await talk.say('WAIT', '1', String(withinMs));
  talk.close();
  return acknowledged;
}

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])(
  'a replica of $name with fewer databases than its primary',
  (program) => {
    const { engine, version, server } = program;
    let stage: Stage | undefined;
    afterEach(async () => stage?.close());

    it.each([
      ['was started with all that it needs', false],
      ['was started by an operator of before, and has been told since', true],
    ] as const)('acknowledges nothing that it cannot apply, nor takes it for another key: it %s', async (_, isTold) => {
      stage = await realStage(() => server);
      const own = confOf(program, {});
      await linked(stage, program, isTold ? own.filter((line) => !line.startsWith('propagation-')) : own);
      if (isTold) {
        const wanted = settingsToHold(redisCluster({ engine, version, replicas: 2 }));
        const names = Object.keys(wanted);
        const found = (await stage.ask('n2', 'CONFIG', 'GET', ...names)) as readonly string[];
        const actual = Object.fromEntries(
          found.flatMap((name, i) => (i % 2 === 0 ? [[name, found[i + 1] ?? '']] : [])),
        );
        await stage.ask('n2', 'CONFIG', 'SET', ...Object.entries(settingsToChange(wanted, actual)).flat());
      }
      expect(await written(stage, '0', 'of 0')).toBe(1);
      expect(await written(stage, '20', 'of 20', 500)).toBe(0);
      await stage.kill('n2');
      await stage.start('n2', [...own, 'databases 32']);
      await follow(stage);
      expect(await stage.ask('n2', 'GET', 'key')).toBe('of 0');
      expect(await written(stage, '20', 'again')).toBe(1);
    });
  },
);

const newest = serverProgram('Valkey 9.1');

describe.skipIf(newest === undefined)('an older server behind Valkey 9.1 that has a hash whose fields expire', () => {
  let stage: Stage | undefined;
  afterEach(async () => stage?.close());

  for (const older of ['Valkey 8.1', 'Redis 7.0']) {
    const former = serverProgram(older);
    it.skipIf(former === undefined)(
      `${older} keeps what it had, and asks again and again`,
      async () => {
        if (newest === undefined || former === undefined) throw new Error('skipped then');
        stage = await realStage((member) => (member === 'n1' ? newest : former).server);
        const at = stage;
        for (const member of ['n1', 'n2']) await at.start(member);
        await at.ask('n2', 'SET', 'mine', '1');
        await at.ask('n1', 'HSET', 'h', 'f', 'v');
        await at.ask('n1', 'HEXPIRE', 'h', '1000', 'FIELDS', '1', 'f');
        await at.ask('n2', 'REPLICAOF', at.address('n1'), '6379');
        const seen = async (member: string) =>
          dataNode({ pod: member, address: member }, await info(at, member, 'everything'), {});
        await at.until('the primary has tried', async () => (await seen('n1')).fullSyncs >= 20);
        expect(await seen('n2')).toMatchObject({ linkUp: false, copyRefused: false, empty: false });
      },
      60_000,
    );
  }
});
