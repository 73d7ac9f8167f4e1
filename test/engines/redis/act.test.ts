import { describe, expect, it } from 'vitest';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import type { RedisAction } from '../../../src/engines/redis/action.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { flat, hangUp, type Process, scriptedNetwork, settle } from '../../support/scripted-redis.ts';

const node = { pod: 'db-0', address: 'a' };
const sentinel = { pod: 'db-sentinel-0', address: 's' };

const identity = { 'db-internal': { password: 'own' }, 'db-auth': { password: 'pw' } };

async function act(action: RedisAction, answer: Process = () => 'OK', secrets?: typeof identity) {
  const network = scriptedNetwork({
    processes: { 'a:6379': answer, 's:26379': answer },
    ...(secrets === undefined ? {} : { secrets }),
  });
  const result = await settle(network.clock, actRedis(action, redisCluster(), network.io));
  return { asked: network.asked, result, open: network.open() };
}

const settings = 'down-after-milliseconds 3000 failover-timeout 15000 parallel-syncs 2';

describe('an action', () => {
  it.each<readonly [action: RedisAction, asked: readonly string[]]>([
    [{ type: 'redis.promote', node, others: [] }, ['a:6379 REPLICAOF NO ONE']],
    [
      { type: 'redis.promote', node, others: [], term: 3 },
      ['a:6379 CONFIG SET cluster-announce-hostname primary-3', 'a:6379 REPLICAOF NO ONE'],
    ],
    [
      { type: 'redis.tuneSentinel', sentinel, identity: false, settings: { quorum: '3' } },
      ['s:26379 SENTINEL SET db auth-user  auth-pass pw quorum 3'],
    ],
    [
      { type: 'redis.tuneSentinel', sentinel, identity: false, settings: {} },
      ['s:26379 SENTINEL SET db auth-user  auth-pass pw'],
    ],
    [{ type: 'redis.failover', sentinel }, ['s:26379 SENTINEL FAILOVER db']],
    [{ type: 'redis.forget', sentinel }, ['s:26379 SENTINEL RESET db']],
    [
      { type: 'redis.configure', node, settings: { timeout: '5', 'notify-keyspace-events': '' } },
      ['a:6379 CONFIG SET timeout 5 notify-keyspace-events '],
    ],
  ])('$type says so', async (action, expected) => {
    expect(await act(action)).toMatchObject({ asked: expected, result: { status: 'fulfilled' }, open: 0 });
  });

  it.each<readonly [story: string, role: string | undefined, told: boolean]>([
    ['makes a node primary where the others are replicas, as they were seen', 'slave', true],
    ['R1: not where Sentinel has elected another meanwhile', 'master', false],
    ['R1: nor where another does not say: it may have been elected', undefined, false],
  ])('%s', async (_, role, told) => {
    const network = scriptedNetwork({
      processes: {
        'a:6379': () => 'OK',
        ...(role === undefined ? {} : { 'b:6379': (command) => (command === 'ROLE' ? [role] : 'OK') }),
      },
    });
    const action = { type: 'redis.promote', node, others: [{ pod: 'db-1', address: 'b' }] } as const;
    const result = await settle(network.clock, actRedis(action, redisCluster(), network.io));
    expect(network.asked.includes('a:6379 REPLICAOF NO ONE')).toBe(told);
    expect(result.status).toBe(told ? 'fulfilled' : 'rejected');
  });

  it.each<
    readonly [story: string, from: 'primary' | 'replica', role: string, primaryRole: string, asked: readonly string[]]
  >([
    ['has a replica follow', 'replica', 'slave', 'master', ['p:6379 ROLE', 'a:6379 ROLE', 'a:6379 REPLICAOF p 6379']],
    ['has a primary of before follow', 'primary', 'master', 'master', ['p:6379 ROLE', 'a:6379 REPLICAOF p 6379']],
    ['R4: leaves alone who has been elected meanwhile', 'replica', 'master', 'master', ['p:6379 ROLE', 'a:6379 ROLE']],
    ['R4: has nobody follow one that is primary no more', 'replica', 'slave', 'slave', ['p:6379 ROLE']],
  ])('%s', async (_, from, role, primaryRole, asked) => {
    const network = scriptedNetwork({
      processes: {
        'a:6379': (command) => (command === 'ROLE' ? [role] : 'OK'),
        'p:6379': (command) => (command === 'ROLE' ? [primaryRole] : 'OK'),
      },
    });
    const action = { type: 'redis.follow', node, from, primary: 'p' } as const;
    const result = await settle(network.clock, actRedis(action, redisCluster(), network.io));
    expect(network.asked).toEqual(asked);
    expect(result.status).toBe(asked.some((line) => line.includes('REPLICAOF')) ? 'fulfilled' : 'rejected');
  });

  it.each<readonly [story: string, role: string, watches: string | RedisError | null, told: readonly string[]]>([
    ['tells a sentinel whom to watch instead', 'master', 'old', ['REMOVE db', 'MONITOR db a 6379 2']],
    ['may be repeated', 'master', 'a', ['REMOVE db', 'MONITOR db a 6379 2']],
    ['may be repeated where it was cut short', 'master', null, ['MONITOR db a 6379 2']],
    ['R4: leaves a sentinel alone that has gone over to another meanwhile', 'master', 'elected', []],
    ['R4: leaves a sentinel alone that does not say whom it watches', 'master', new RedisError('NOPERM no'), []],
    ['R4: has nobody watch one that is primary no more', 'slave', 'old', []],
  ])('%s', async (_, role, view, told) => {
    const answer: Process = (command) => {
      if (command === 'ROLE') return [role];
      if (command !== 'SENTINEL MASTER db') return 'OK';
      if (view instanceof RedisError) return view;
      return view === null ? new RedisError('ERR No such master with that name') : flat({ ip: view });
    };
    const { asked, result } = await act(
      { type: 'redis.monitor', sentinel, primary: 'a', instead: 'old', identity: false },
      answer,
    );
    const changes = asked.filter((line) => /SENTINEL (REMOVE|MONITOR|SET)/.test(line));
    const set = `s:26379 SENTINEL SET db auth-user  auth-pass pw ${settings}`;
    const lines = told.map((line) => `s:26379 SENTINEL ${line}`);
    expect(changes).toEqual(told.length === 0 ? [] : [...lines, set]);
    expect(result.status).toBe(told.length === 0 ? 'rejected' : 'fulfilled');
  });

  it('that asks for a failover which is under way is done', async () => {
    const { result } = await act(
      { type: 'redis.failover', sentinel },
      () => new RedisError('INPROG Failover already in progress'),
    );
    expect(result).toMatchObject({ status: 'fulfilled' });
  });

  it.each([
    ['Sentinel refuses', new RedisError('NOGOODSLAVE No suitable replica to promote'), /^NOGOODSLAVE/],
    ['nobody answers', hangUp, /^the connection to Redis has ended$/],
  ])('that asks for a failover fails where %s', async (_, answer, message) => {
    const { result } = await act({ type: 'redis.failover', sentinel }, () => answer);
    expect(result).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(message) } });
  });

  it('is done where the server takes each directive by itself, though not all together', async () => {
    const action: RedisAction = { type: 'redis.configure', node, settings: { hz: '50', timeout: '5' } };
    const together: Process = (command) => (command.includes('hz 50 timeout') ? new RedisError('ERR together') : 'OK');
    expect(await act(action, together)).toMatchObject({ result: { status: 'fulfilled' } });
  });

  it('asks once for a directive that is refused alone', async () => {
    const action: RedisAction = { type: 'redis.configure', node, settings: { hz: '50' } };
    const { asked, result } = await act(action, () => new RedisError('ERR no'));
    expect([asked, result.status]).toEqual([['a:6379 CONFIG SET hz 50'], 'rejected']);
  });

  it('tries each directive by itself where the server refuses them together, and tells which it refuses', async () => {
    const action: RedisAction = {
      type: 'redis.configure',
      node,
      settings: { hz: '50', maxclients: '57679', timeout: '5' },
    };
    const refusing: Process = (command) =>
      command.includes('maxclients') ? new RedisError(`ERR CONFIG SET failed - ${'x'.repeat(9000)}`) : 'OK';
    const { asked, result } = await act(action, refusing);
    expect(asked.slice(1)).toEqual([
      'a:6379 CONFIG SET hz 50',
      'a:6379 CONFIG SET maxclients 57679',
      'a:6379 CONFIG SET timeout 5',
    ]);
    expect(result).toMatchObject({ status: 'rejected', reason: { condition: 'SettingsRefused' } });
    const { message } = (result as PromiseRejectedResult).reason as Error;
    expect(message).toMatch(/^db-0 refuses maxclients 57679: ERR CONFIG SET failed - x+…$/);
    expect(message.length).toBeLessThan(300);
  });

  it('fails where the server does not answer: that is no refusal', async () => {
    const { result } = await act({ type: 'redis.configure', node, settings: { hz: '50' } }, () => hangUp);
    expect(result).toMatchObject({ status: 'rejected', reason: { message: 'the connection to Redis has ended' } });
  });

  const login = 'AUTH clusterwright/apps/db own';
  const rule = `ACL SETUSER clusterwright/apps/db reset on #${hashOf('own')} ~* &* +@all`;
  const inSentinel = 'SENTINEL SET db auth-user clusterwright/apps/db auth-pass own';

  it.each<readonly [action: RedisAction, asked: readonly string[]]>([
    [{ type: 'redis.identify', node }, [`a:6379 ${login}`, `a:6379 ${rule}`]],
    [
      { type: 'redis.replicateAs', node },
      [`a:6379 ${login}`, 'a:6379 CONFIG SET masteruser clusterwright/apps/db masterauth own'],
    ],
    [
      { type: 'redis.watchAs', sentinel },
      [login, inSentinel, rule, 'SENTINEL FLUSHCONFIG'].map((line) => `s:26379 ${line}`),
    ],
    [
      { type: 'redis.monitor', sentinel, primary: 'a', identity: true },
      [
        ...[login, 'ROLE'].map((line) => `a:6379 ${line}`),
        ...[login, 'SENTINEL MONITOR db a 6379 2', `${inSentinel} ${settings}`, rule, 'SENTINEL FLUSHCONFIG'].map(
          (line) => `s:26379 ${line}`,
        ),
      ],
    ],
  ])('$type of a cluster with an identity says so, by hashes alone', async (action, expected) => {
    const answer: Process = (command) => (command === 'ROLE' ? ['master'] : 'OK');
    expect(await act(action, answer, identity)).toMatchObject({ asked: expected, result: { status: 'fulfilled' } });
  });

  it('that needs the identity fails where there is none', async () => {
    expect(await act({ type: 'redis.identify', node })).toMatchObject({
      asked: [],
      result: { status: 'rejected', reason: { message: "the Secret with the cluster's identity is not there" } },
    });
  });

  it('that needs the password fails where there is none, though the cluster is known by its identity', async () => {
    const network = scriptedNetwork({
      processes: { 's:26379': () => 'OK' },
      secrets: { 'db-internal': identity['db-internal'] },
    });
    const action = { type: 'redis.tuneSentinel', sentinel, identity: false, settings: {} } as const;
    const result = await settle(network.clock, actRedis(action, redisCluster(), network.io));
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'PasswordMissing' } });
    expect(network.asked.filter((line) => line.includes('SENTINEL SET'))).toEqual([]);
  });

  it('that is refused fails with the words of the server, and says nothing more', async () => {
    const action: RedisAction = { type: 'redis.forget', sentinel };
    const refusing: Process = () => new RedisError('ERR No such master with that name');
    expect(await act(action, refusing)).toMatchObject({
      asked: ['s:26379 SENTINEL RESET db'],
      result: { status: 'rejected', reason: { message: 'ERR No such master with that name' } },
      open: 0,
    });
  });
});
