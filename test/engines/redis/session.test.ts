import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { RedisError, type Reply } from '../../../src/engines/redis/client/resp.ts';
import { passwordOf, sessionsWith, withSession } from '../../../src/engines/redis/client/session.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import {
  hang,
  hangUp,
  type Process,
  type ScriptedOptions,
  scriptedNetwork,
  settle,
} from '../../support/scripted-redis.ts';

const place = { address: 'a', port: 6379, credentials: { password: 'pw' } };

async function talking(process: Process | undefined, more: Partial<ScriptedOptions> = {}) {
  const network = scriptedNetwork({ processes: { 'a:6379': process }, ...more });
  const result = await settle(
    network.clock,
    withSession(network.io, place, (connection) => connection.command('PING')),
  );
  const outcome = result.status === 'fulfilled' ? result.value : (result.reason as Error).message;
  return { outcome, ms: network.clock.monotonic(), open: network.open(), timers: network.clock.pending.length };
}

describe('a session with a process', () => {
  it('logs in, asks, and leaves nothing open', async () => {
    expect(await talking(() => 'PONG')).toEqual({ outcome: 'PONG', ms: 0, open: 0, timers: 0 });
  });

  it.each<readonly [story: string, process: Process | undefined, outcome: string, ms: number]>([
    ['a machine that does not accept is given 300 ms', undefined, 'a:6379 did not answer within 300 ms', 300],
    ['a process that does not answer is given a second', () => hang, 'a:6379 did not answer within 1000 ms', 1000],
    ['a process that hangs up is known at once', () => hangUp, 'the connection to Redis has ended', 0],
  ])('%s', async (_, process, outcome, ms) => {
    expect(await talking(process)).toMatchObject({ outcome, open: 0, timers: 0 });
    expect((await talking(process)).ms).toBeLessThanOrEqual(ms + 5);
  });

  it.each<readonly [story: string, users: readonly string[], announced: readonly string[], why: string]>([
    ['one that has yet to be told who the cluster is takes the password', ['default'], ['a'], ''],
    ['so does one that was told another password of the identity', ['clusterwright/apps/db', 'default'], ['a'], ''],
    [
      'R4: one of another cluster is let alone',
      ['clusterwright/apps/other'],
      ['a'],
      'it is a member of another cluster',
    ],
    ['R4: so is one that nobody has told an address', ['default'], [''], 'it is no process of this cluster'],
    ['R4: so is one that announces another', ['default'], ['b'], 'it is no process of this cluster'],
    ['R4: so is one that does not say', ['default'], [], 'it is no process of this cluster'],
  ])('%s', async (_, users, announced, why) => {
    const refused = new RedisError('WRONGPASS invalid username-password pair or user is disabled.');
    for (const [port, question] of [
      [6379, 'CONFIG GET replica-announce-ip'],
      [26379, 'SENTINEL CONFIG GET announce-ip'],
    ] as const) {
      const answers: Readonly<Record<string, Reply>> = { 'ACL USERS': [...users], [question]: ['name', ...announced] };
      const answer: Process = (command) =>
        command.startsWith('AUTH clusterwright') ? refused : (answers[command] ?? 'OK');
      const network = scriptedNetwork({ processes: { [`a:${port}`]: answer } });
      const credentials = { identity: { user: 'clusterwright/apps/db', password: 'own' }, password: 'pw' };
      const target = { address: 'a', port, credentials };
      const talk = withSession(network.io, target, (connection) => connection.command('ACT'));
      const result = await settle(network.clock, talk);
      const told = result.status === 'rejected' ? (result.reason as Error).message : '';
      expect([told.startsWith(why), told === '', network.asked.includes(`a:${port} ACT`)]).toEqual([
        true,
        why === '',
        why === '',
      ]);
    }
  });

  it('refused is told as it is', async () => {
    expect(await talking(() => 'PONG', { processes: {} })).toMatchObject({ outcome: 'connect ECONNREFUSED a:6379' });
  });

  it('ends when the process of the operator does', async () => {
    const network = scriptedNetwork({ processes: { 'a:6379': () => hang } });
    const talk = withSession(network.io, place, (connection) => connection.command('PING'));
    await network.clock.advance(1);
    network.abort();
    await expect(talk).rejects.toThrow('stopping');
    expect(network.open()).toBe(0);
  });
});

describe('sessions for a longer action', () => {
  it('bound each command by a second, and stay open between them', async () => {
    const network = scriptedNetwork({ processes: { 'a:6379': (command) => (command === 'SLOW' ? hang : 'OK') } });
    const open = sessionsWith(network.io, { password: 'pw' });
    const session = await open('a', 6379);
    for (let i = 0; i < 3; i++) {
      await network.clock.advance(900);
      expect(await session.command('FAST')).toBe('OK');
    }
    const slow = await settle(network.clock, session.command('SLOW'));
    expect(slow).toMatchObject({ reason: { message: 'a:6379 did not answer within 1000 ms' } });
    expect(network.open()).toBe(1);
    open.closeAll();
    expect(network.open()).toBe(0);
  });

  it('close what was opened when a later one cannot be', async () => {
    const network = scriptedNetwork({ processes: { 'a:6379': () => 'OK' } });
    const open = sessionsWith(network.io, { password: 'pw' });
    await open('a', 6379);
    await expect(open('b', 6379)).rejects.toThrow('ECONNREFUSED b:6379');
    open.closeAll();
    expect(network.open()).toBe(0);
  });
});

describe('the password', () => {
  const { io } = scriptedNetwork({
    processes: {},
    secrets: {
      'db-auth': { password: 'generated' },
      mine: { redis: 'line one\nline two' },
      empty: { password: '' },
      late: { password: '\nin the second line' },
    },
  });

  it('is the generated one, or that of the user, and its first line only, as in the pods', async () => {
    expect(await passwordOf(redisCluster(), io)).toEqual({
      password: 'generated',
      clients: { hashes: [hashOf('generated')] },
    });
    const mine = await passwordOf(redisCluster({ auth: { secretRef: { name: 'mine', key: 'redis' } } }), io);
    expect(mine.password).toBe('line one');
  });

  it.each([
    ['none', 'Secret none with key password does not exist'],
    ['mine', 'Secret mine with key password does not exist'],
    ['empty', 'Secret empty has no password in the first line of its key password'],
    ['late', 'Secret late has no password in the first line of its key password'],
  ])('that is not in Secret %s is missing', async (name, message) => {
    await expect(passwordOf(redisCluster({ auth: { secretRef: { name } } }), io)).rejects.toThrow(message);
  });
});
