/** ACL users are set and removed on a simulated server, whose answers are held to those of real ones. */
import { describe, expect, it } from 'vitest';
import { Refused } from '../../../src/engine/refused.ts';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import type { RedisAction } from '../../../src/engines/redis/action.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { recordRule, recordsIn, recordUser, trialUser } from '../../../src/engines/redis/client/user-record.ts';
import { wantedUsers } from '../../../src/engines/redis/client/wanted-users.ts';
import { observeUsers } from '../../../src/engines/redis/observe/users.ts';
import { commandInfo } from '../../faults/redis/acl-commands.ts';
import { Users } from '../../faults/redis/users.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { type Answer, hangUp, scriptedNetwork, settle } from '../../support/scripted-redis.ts';

interface User {
  readonly name: string;
  readonly rules: readonly string[];
  readonly admin?: boolean;
}

const node = { pod: 'db-0', address: 'a' };
const app: User = { name: 'app', rules: ['~app:*', '+get'] };
const other: User = { name: 'other', rules: ['+ping'] };
const inOrder = { due: [], byHand: [], former: [] };
const isChange = (line: string): boolean => /ACL (SETUSER|DELUSER)/.test(line);

/** A server that keeps its users. `instead` answers in its place where it returns something. */
function serverOf(instead: (command: string) => Answer | undefined = () => undefined) {
  const users = new Users(new Map(), () => 'pw');
  const run = (command: string): Answer => {
    const [first, ...args] = command.split(' ');
    return first === 'ACL' ? users.command(args) : args.slice(1).map(commandInfo);
  };
  const shown = () => recordsIn(users.command(['GETUSER', recordUser])) ?? [];
  return {
    users,
    run,
    process: (command: string): Answer => instead(command) ?? run(command),
    recorded: () => shown().map(({ name }) => name),
    names: () => [...users.named.keys()].sort(),
  };
}
type Server = ReturnType<typeof serverOf>;

const clusterOf = (spec: readonly User[]) =>
  redisCluster({ users: spec.map(({ name, ...rest }) => ({ name, secretRef: { name }, ...rest })) });

function networkOf(server: Server) {
  const secrets = { 'db-auth': { password: 'pw' }, app: { password: 'one' }, other: { password: 'two' } };
  return scriptedNetwork({ processes: { 'a:6379': server.process }, secrets });
}

async function act(type: 'set' | 'remove', names: readonly string[], spec: readonly User[], server: Server) {
  const action: RedisAction =
    type === 'set' ? { type: 'redis.setUsers', node, users: names } : { type: 'redis.removeUsers', node, users: names };
  const network = networkOf(server);
  const result = await settle(network.clock, actRedis(action, clusterOf(spec), network.io));
  const asked = network.asked.map((line) => line.replace('a:6379 ', ''));
  const error: unknown = result.status === 'rejected' ? result.reason : undefined;
  return { asked, told: asked.filter(isChange), error };
}

async function look(spec: readonly User[], server: Server) {
  const { io, clock } = networkOf(server);
  const wanted = await wantedUsers(clusterOf(spec), io);
  const seen = await settle(clock, observeUsers({ address: 'a', credentials: { password: 'pw' } }, wanted, io));
  if (seen.status === 'rejected') throw seen.reason;
  return seen.value;
}

const shortly = (line: string): string => line.split(' ').slice(0, 3).join(' ');

describe('a user that is set', () => {
  it('is tried, recorded, and then set in one command', async () => {
    const server = serverOf();
    const { told, error } = await act('set', ['app'], [app], server);
    const words = `#${hashOf('one')} ~app:* +get`;
    expect(error).toBeUndefined();
    expect(told).toEqual([
      `ACL SETUSER ${trialUser} reset off ${words}`,
      `ACL DELUSER ${trialUser}`,
      expect.stringMatching(new RegExp(`^ACL SETUSER ${recordUser} reset off ~app;[0-9a-f]{16};#`)),
      `ACL SETUSER app reset on ${words}`,
    ]);
    expect(await look([app], server)).toEqual(inOrder);
  });

  it('leaves the records of others, and has one record however often it is set', async () => {
    const server = serverOf();
    await act('set', ['app', 'other'], [app, other], server);
    await act('set', ['app'], [{ ...app, rules: ['+ping'] }, other], server);
    expect(server.recorded()).toEqual(['other', 'app']);
    expect(await look([{ ...app, rules: ['+ping'] }, other], server)).toEqual(inOrder);
  });

  it('is no other than the action names, and none whose Secret is of no use', async () => {
    const server = serverOf();
    await act('set', ['app', 'without'], [app, other, { name: 'without', rules: ['+get'] }], server);
    expect(server.names()).toEqual(['app', recordUser]);
  });

  it('with rules that the server refuses stays as it was, the others are set, and the node is named', async () => {
    const server = serverOf();
    await act('set', ['app'], [app], server);
    const { error } = await act('set', ['app', 'other'], [{ ...app, rules: ['+nosuch'] }, other], server);
    expect(error).toBeInstanceOf(Refused);
    expect(error).toMatchObject({
      message: "db-0 refuses app: ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL",
    });
    expect(server.names()).toEqual(['app', recordUser, 'other']);
    expect(await look([app, other], server)).toEqual(inOrder);
  });

  it.each<readonly [rules: readonly string[], said: string]>([
    [['+@all'], 'acl|deluser, acl|getuser, acl|setuser, acl|users, 10 more'],
    [['+shutdown'], 'shutdown'],
    [['+@all', '-@admin', '&*'], 'PUBLISH on __sentinel__:hello'],
    [['+get', '(+config|set ~a)'], 'config|set'],
  ])('who might do with %j what administrators do is refused, and is set with admin: true', async (rules, said) => {
    const server = serverOf();
    const { error } = await act('set', ['app'], [{ ...app, rules }], server);
    expect(error).toMatchObject({
      message: expect.stringContaining(`db-0 refuses app: the rules allow ${said}, which needs admin: true`),
    });
    expect(server.names()).toEqual([]);
    const again = await act('set', ['app'], [{ ...app, rules, admin: true }], server);
    expect(again).toMatchObject({ error: undefined, asked: expect.not.arrayContaining(['ACL CAT admin']) });
    expect(server.names()).toEqual(['app', recordUser]);
  });

  it.each<readonly [story: string, command: string, answer: Answer]>([
    ['the record cannot be read', `ACL GETUSER ${recordUser}`, 'OK'],
    ['the server does not tell what administrators do', 'ACL CAT admin', []],
    ['the memory is full', `ACL SETUSER ${trialUser}`, new RedisError('OOM command not allowed')],
  ])('is not where %s, and that is no refusal', async (_, command, answer) => {
    const server = serverOf((asked) => (asked.startsWith(command) ? answer : undefined));
    const { error } = await act('set', ['app'], [app], server);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(Refused);
    expect(server.names()).toEqual([]);
  });
});

describe('a user that is removed', () => {
  const setBoth = async (server: Server): Promise<Server> => {
    await act('set', ['app', 'other'], [app, other], server);
    return server;
  };

  it('goes before its record', async () => {
    const server = await setBoth(serverOf());
    const { told } = await act('remove', ['other'], [app], server);
    expect(told.map(shortly)).toEqual(['ACL DELUSER other', `ACL SETUSER ${recordUser}`]);
    expect(server.recorded()).toEqual(['app']);
    expect(await look([app], server)).toEqual(inOrder);
  });

  it('takes the record along if it is the last', async () => {
    const server = await setBoth(serverOf());
    const { told } = await act('remove', ['app', 'other'], [], server);
    expect(told).toEqual(['ACL DELUSER app other', `ACL DELUSER ${recordUser}`]);
    expect(server.names()).toEqual([]);
  });

  it.each<readonly [story: string, name: string]>([
    ['the spec names again', 'app'],
    ['somebody else has made', 'foreign'],
  ])('is none that %s', async (_, name) => {
    const server = await setBoth(serverOf());
    server.users.command(['SETUSER', 'foreign', 'on', '+ping']);
    const { told, error } = await act('remove', [name], [app], server);
    expect([told, error]).toEqual([[], undefined]);
  });

  it('is none where the record cannot be read', async () => {
    let isOdd = false;
    const server = await setBoth(serverOf((asked) => (isOdd && asked.startsWith('ACL GETUSER') ? 'OK' : undefined)));
    isOdd = true;
    const { told, error } = await act('remove', ['other'], [app], server);
    expect([told, error]).toEqual([[], expect.any(Error)]);
  });
});

describe('an operator that is interrupted', () => {
  /** Does `after` changes; the connection ends at the next one, which is done or not. */
  const interrupted = (after: number, isDone: boolean) => {
    let changes = 0;
    let isOver = false;
    const server = serverOf((command) => {
      if (isOver || !isChange(command) || changes++ < after) return undefined;
      isOver = true;
      if (isDone) server.run(command);
      return hangUp;
    });
    return server;
  };
  const cases = [...Array(8).keys()].flatMap((after) => [true, false].map((isDone) => [after, isDone] as const));

  it.each(cases)(
    'after %i changes, the next of which is done: %s, sets none that is not on record',
    async (after, isDone) => {
      const server = interrupted(after, isDone);
      const first = await act('set', ['app', 'other'], [app, other], server);
      expect(first.error).toBeInstanceOf(Error);
      const mine = server.names().filter((name) => name !== recordUser && name !== trialUser);
      expect(server.recorded()).toEqual(expect.arrayContaining(mine));
      await act('set', ['app', 'other'], [app, other], server);
      expect(server.names()).toEqual(['app', recordUser, 'other']);
      expect(await look([app, other], server)).toEqual(inOrder);
    },
  );

  it('and leaves the spec meanwhile: the one that rules are tried on goes, too', async () => {
    const server = interrupted(0, true);
    await act('set', ['app'], [app], server);
    expect(server.names()).toEqual([trialUser]);
    const seen = await look([], server);
    expect(seen).toEqual({ ...inOrder, former: [trialUser] });
    await act('remove', [trialUser], [], server);
    expect(server.names()).toEqual([]);
  });

  it.each([
    [0, true],
    [0, false],
    [1, true],
    [1, false],
  ])('after %i changes, the next of which is done: %s, comes back to remove the rest', async (after, isDone) => {
    const server = interrupted(after, isDone);
    const records = ['app', 'other'].map((name) => ({ name, digest: '0', words: ['+ping'] }));
    server.users.command(['SETUSER', ...recordRule(records)]);
    for (const { name, words } of records) server.users.command(['SETUSER', name, 'reset', 'on', ...words]);
    await act('remove', ['other'], [app], server);
    const seen = await look([app], server);
    const former = 'unknown' in seen ? [] : seen.former;
    // Whether it is gone or not: as long as it may be there, the record has it.
    expect(server.names().includes('other') && !former.includes('other')).toBe(false);
    await act('remove', former, [app], server);
    expect(server.names()).toEqual(['app', recordUser]);
    expect(server.recorded()).toEqual(['app']);
  });
});
