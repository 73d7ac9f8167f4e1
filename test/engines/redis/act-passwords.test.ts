import { describe, expect, it } from 'vitest';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import type { Formers, RedisAction } from '../../../src/engines/redis/action.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { formersIn } from '../../../src/engines/redis/observe/accepted.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { type Process, scriptedNetwork, settle } from '../../support/scripted-redis.ts';

const data = { pod: 'db-0', address: 'a', part: 'data' } as const;
const sentinel = { pod: 'db-sentinel-0', address: 's', part: 'sentinel' } as const;
const formersOf = (...passwords: readonly string[]): Formers =>
  formersIn(passwords.map(hashOf), [], { user: '', password: 'own' });
const rule = (...passwords: readonly string[]): string => passwords.map((one) => `#${hashOf(one)}`).join(' ');

const accepting =
  (...passwords: readonly string[]): Process =>
  (command) =>
    command.startsWith('ACL GETUSER') ? ['flags', ['on'], 'passwords', passwords.map(hashOf)] : 'OK';

interface Tale {
  readonly data?: Process;
  readonly sentinel?: Process;
  readonly secret?: Readonly<Record<string, string>>;
  /** What the Secret says once it is read anew. */
  readonly later?: Readonly<Record<string, string>>;
}

async function act(action: RedisAction, tale: Tale = {}) {
  const { secret = { password: 'new' }, later = secret } = tale;
  const network = scriptedNetwork({
    processes: { 'a:6379': tale.data ?? accepting('old'), 's:26379': tale.sentinel ?? accepting('old') },
  });
  const anew: string[] = [];
  const io = {
    ...network.io,
    secret: async (name: string) => (name === 'db-auth' ? secret : { password: 'own' }),
    secretNow: async (name: string) => {
      anew.push(name);
      return later;
    },
  };
  const result = await settle(network.clock, actRedis(action, redisCluster(), io));
  const asked = network.asked.filter((line) => !line.includes('AUTH clusterwright/apps/db own'));
  return { asked, result, anew, open: network.open() };
}

describe('an action on the passwords of clients', () => {
  it.each<readonly [story: string, action: RedisAction, asked: readonly string[], tale: Tale]>([
    [
      'adds the new one to a data node',
      { type: 'redis.acceptPasswords', process: data },
      [`a:6379 ACL SETUSER default ${rule('new')}`],
      {},
    ],
    [
      'adds all that the Secret names to a sentinel, which writes them down',
      { type: 'redis.acceptPasswords', process: sentinel },
      [`s:26379 ACL SETUSER default ${rule('new', 'next', 'before')}`, 's:26379 SENTINEL FLUSHCONFIG'],
      { secret: { password: 'new', 'password-next': 'next', 'password-previous': 'before' } },
    ],
    [
      'adds former ones that another process accepts, and no other that it does',
      { type: 'redis.acceptAsWell', process: data, as: sentinel, formers: formersOf('old', 'older') },
      ['s:26379 ACL GETUSER default', `a:6379 ACL SETUSER default ${rule('old')}`],
      { sentinel: accepting('new', 'old', 'remainder') },
    ],
    [
      'leaves those that the Secret names, and no other',
      { type: 'redis.retirePasswords', process: sentinel, formers: formersOf('old') },
      [
        's:26379 ACL GETUSER default',
        `s:26379 ACL SETUSER default resetpass ${rule('new')}`,
        's:26379 SENTINEL FLUSHCONFIG',
      ],
      { sentinel: accepting('old', 'new') },
    ],
    [
      'has a sentinel call the others as the cluster',
      { type: 'redis.meetAs', sentinel },
      [
        's:26379 SENTINEL CONFIG SET sentinel-pass own',
        's:26379 SENTINEL CONFIG SET sentinel-user clusterwright/apps/db',
      ],
      {},
    ],
  ])('%s', async (_, action, asked, tale) => {
    expect(await act(action, tale)).toMatchObject({ asked, result: { status: 'fulfilled' }, open: 0 });
  });

  it.each<readonly [story: string, accepts: readonly string[], later: string]>([
    ['a third one has come', ['old', 'new'], 'third'],
    ['the old one is back: what was named a moment ago has its own overlap', ['old', 'new'], 'old'],
    ['a person has told the server one more', ['old', 'new', 'by hand'], 'new'],
  ])('reads the Secret anew before it takes one away, and does not where %s', async (_, accepts, later) => {
    const action: RedisAction = { type: 'redis.retirePasswords', process: data, formers: formersOf('old') };
    const { asked, result, anew } = await act(action, {
      data: accepting(...accepts),
      later: { password: later },
    });
    expect(anew).toEqual(['db-auth']);
    expect(asked).toEqual(['a:6379 ACL GETUSER default']);
    expect(result).toMatchObject({
      reason: { message: 'Secret db-auth has changed meanwhile, or the passwords of db-0' },
    });
  });

  it.each<readonly [type: 'redis.acceptPasswords' | 'redis.retirePasswords', secret: Readonly<Record<string, string>>]>(
    [
      ['redis.acceptPasswords', { password: 'new', 'password-next': 'a\tb' }],
      ['redis.retirePasswords', { password: 'new', 'password-next': '' }],
      ['redis.retirePasswords', { password: '' }],
      ['redis.acceptPasswords', {}],
    ],
  )('%s does nothing with %j', async (type, secret) => {
    const { asked, result } = await act({ type, process: data, formers: [] }, { secret });
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ reason: { message: 'Secret db-auth has no password that is of use' } });
  });
});
