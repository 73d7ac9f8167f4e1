/** ACL users on real servers of each engine and version, by the operator's own look, plan and actions. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refused } from '../../../src/engine/refused.ts';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { recordRule, recordsIn, recordUser, wordsOf } from '../../../src/engines/redis/client/user-record.ts';
import { wantedUsers } from '../../../src/engines/redis/client/wanted-users.ts';
import { usersSchema } from '../../../src/engines/redis/kind/users.ts';
import type { NodeUsers } from '../../../src/engines/redis/observe/observed.ts';
import type { Situation } from '../../../src/engines/redis/observe/situation.ts';
import { observeUsers } from '../../../src/engines/redis/observe/users.ts';
import { planUsers } from '../../../src/engines/redis/plan/users.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { ended, password, type Stage } from '../../faults/redis/conformance/stage.ts';
import { realContext } from '../../support/real-context.ts';
import { serverPrograms } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';

interface User {
  readonly name: string;
  readonly rules: readonly string[];
  readonly admin?: boolean;
}

const inOrder = { due: [], byHand: [], former: [] };

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('users on $name', ({ server }) => {
  let stage: Stage;
  const secrets: Record<string, Record<string, string>> = {};
  beforeEach(async () => {
    stage = await realStage(() => server);
    await stage.start('n1');
    for (const name of Object.keys(secrets)) delete secrets[name];
    Object.assign(secrets, { 'db-auth': { password }, app: { password: 'one' }, other: { password: 'two' } });
  });
  afterEach(async () => stage.close());

  const io = realContext(secrets);
  const clusterOf = (users: readonly User[]) =>
    redisCluster({
      mode: 'Standalone',
      replicas: 1,
      users: users.map(({ name, ...rest }) => ({ name, secretRef: { name }, ...rest })),
    });

  async function look(users: readonly User[]): Promise<NodeUsers> {
    const place = { address: stage.address('n1'), credentials: { password } };
    return observeUsers(place, await wantedUsers(clusterOf(users), io), io);
  }

  /** One reconcile; returns what it has done. */
  async function pass(users: readonly User[]): Promise<string[]> {
    const node = { pod: 'db-0', address: stage.address('n1'), users: await look(users) };
    const steps = planUsers({ nodes: [node] } as unknown as Situation);
    const refusals: string[] = [];
    for (const { action } of steps) {
      await actRedis(action, clusterOf(users), io).catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error;
        refusals.push(error.message);
      });
    }
    return [...steps.map(({ summary }) => summary), ...refusals];
  }

  async function login(name: string, secret: string, ...command: readonly string[]): Promise<unknown> {
    const talk = await stage.open('n1', false);
    const [answer, result] = [await talk.say('AUTH', name, secret), await talk.say(...command)];
    talk.close();
    return answer === 'OK' ? result : answer;
  }

  const app: User = { name: 'app', rules: ['~app:*', '+@read', '+@write', '&app:*', '+publish'] };
  const refused = /^-WRONGPASS/;

  it('a user is set once, may do what its rules say, and changes with rules and passwords', async () => {
    expect(await pass([app])).toEqual(['set user app on db-0']);
    expect(await look([app])).toEqual(inOrder);
    expect(await pass([app])).toEqual([]);
    expect(await login('app', 'one', 'SET', 'app:a', '1')).toBe('OK');
    expect(await login('app', 'one', 'SET', 'b', '1')).toMatch(/^-NOPERM/);
    expect(await login('app', 'wrong', 'PING')).toMatch(refused);
    const reader: User = {
      name: 'app',
      rules: ['~app:*', '+@read', '(%R~*', '+get)'].slice(0, 2).concat('(~x:* +get)'),
    };
    await pass([reader]);
    expect(await login('app', 'one', 'SET', 'app:a', '1')).toMatch(/^-NOPERM/);
    expect(await login('app', 'one', 'GET', 'x:1')).toBe(null);
    secrets.app = { password: 'next', 'password-previous': 'one' };
    await pass([reader]);
    expect([await login('app', 'one', 'GET', 'x:1'), await login('app', 'next', 'GET', 'x:1')]).toEqual([null, null]);
    secrets.app = { password: 'next' };
    await pass([reader]);
    expect(await login('app', 'one', 'GET', 'x:1')).toMatch(refused);
    expect(await look([reader])).toEqual(inOrder);
  });

  it.each<readonly [change: string, ...words: string[]]>([
    ['another rule', 'ACL', 'SETUSER', 'app', '+info'],
    ['another key', 'ACL', 'SETUSER', 'app', '~more:*'],
    ['a selector', 'ACL', 'SETUSER', 'app', '(+get ~more:*)'],
    ['another password', 'ACL', 'SETUSER', 'app', '>more'],
    ['no password', 'ACL', 'SETUSER', 'app', 'nopass'],
    ['switched off', 'ACL', 'SETUSER', 'app', 'off'],
    ['deleted', 'ACL', 'DELUSER', 'app'],
    ['the record deleted', 'ACL', 'DELUSER', recordUser],
    ['too long to read', 'ACL', 'SETUSER', 'app', ...Array.from({ length: 40 }, (_, i) => `~${i}${'k'.repeat(2_000)}`)],
  ])('a change by hand is found and put right, and no other user is set: %s', async (_, ...words) => {
    const users = [app, { name: 'other', rules: ['+get', '~*'] }];
    await pass(users);
    await stage.ask('n1', ...words);
    const seen = await look(users);
    expect(seen).toMatchObject({ due: words[2] === recordUser ? ['app', 'other'] : ['app'], former: [] });
    await pass(users);
    expect(await look(users)).toEqual(inOrder);
    expect(await login('app', 'one', 'SET', 'app:a', '1')).toBe('OK');
    expect(await login('app', 'more', 'PING')).toMatch(refused);
  });

  it('a user that leaves the spec goes with its connections; others, also those made by hand, stay', async () => {
    const other = { name: 'other', rules: ['+ping'] };
    await stage.ask('n1', 'ACL', 'SETUSER', 'byhand', 'on', '>three', '+ping');
    await pass([app, other]);
    const talk = await stage.open('n1', false);
    await talk.say('AUTH', 'app', 'one');
    expect(await pass([other])).toEqual(['remove user app from db-0']);
    expect(await talk.say('GET', 'app:a')).toBe(ended);
    expect(await login('app', 'one', 'PING')).toMatch(refused);
    expect([await login('other', 'two', 'PING'), await login('byhand', 'three', 'PING')]).toEqual(['PONG', 'PONG']);
    await pass([]);
    expect(await stage.ask('n1', 'ACL', 'USERS')).toEqual(['byhand', 'default']);
  });

  it('the operator takes over a user that somebody made by hand with a name of the spec, and reports it', async () => {
    await stage.ask('n1', 'ACL', 'SETUSER', 'app', 'on', '>three', '+@all', '~*');
    expect(await pass([app])).toEqual(['set user app on db-0, in the place of app that somebody else has made']);
    expect(await login('app', 'three', 'PING')).toMatch(refused);
  });

  it('one that was made by hand stays where the rules of the spec are refused, and is not removed with the spec', async () => {
    await stage.ask('n1', 'ACL', 'SETUSER', 'app', 'on', '>three', '+ping');
    await pass([{ name: 'app', rules: ['+nosuch'] }]);
    expect(await pass([])).toEqual([]);
    expect(await login('app', 'three', 'PING')).toBe('PONG');
  });

  it.each<readonly [rules: readonly string[], words: RegExp]>([
    [['+@all'], /app: the rules allow acl\|.*more, which needs admin: true/],
    [['allcommands'], /which needs admin/],
    [['+@admin'], /which needs admin/],
    [['+@dangerous'], /which needs admin/],
    [['+@all', '-@admin', '(+@all ~a)'], /which needs admin/],
    [['+@all', '-@admin', '(+config|get)'], /the rules allow config\|get, which/],
    [['+@all', '-@admin', '+acl'], /the rules allow acl\|/],
    [['+SHUTDOWN'], /the rules allow shutdown, which/],
    [['+replicaof'], /the rules allow replicaof, which/],
    [['+debug|segfault'], /the rules allow debug\|segfault, which/],
    [['+client|kill'], /the rules allow client\|kill, which/],
    [['+cluster'], /the rules allow cluster\|/],
    [['+publish', '&*'], /PUBLISH on __sentinel__:hello, which/],
    [['+@all', '-@admin', 'allchannels'], /PUBLISH on __sentinel__:hello, which/],
    [['+nosuch'], /app: ERR Error in ACL SETUSER modifier '\+nosuch': Unknown command or category/],
    [['+@nosuch'], /Unknown command or category/],
    [['~*', '~a'], /Adding a pattern after the \* pattern/],
  ])('rules %j are refused, the others are set, and the user stays as it was', async (rules, words) => {
    const other = { name: 'other', rules: ['+ping'] };
    await pass([app]);
    const said = await pass([{ name: 'app', rules }, other]);
    expect(said.at(-1)).toMatch(words);
    expect([await login('app', 'one', 'SET', 'app:a', '1'), await login('other', 'two', 'PING')]).toEqual([
      'OK',
      'PONG',
    ]);
    expect(await stage.ask('n1', 'ACL', 'USERS')).toEqual(['app', recordUser, 'default', 'other']);
    expect(await look([app, other])).toEqual(inOrder);
  });

  it.each<readonly [rules: readonly string[]]>([
    [['+@all', '-@admin', '~*']],
    [['+@all', '-@admin', '-publish', '&*', '~*']],
    [['+@all', '-@admin', 'resetchannels', '&app:*', '(+publish &other:*)']],
    [['+info', '+flushall', '+keys', '~*']],
    [['+@read', '+@write', '+@hyperloglog', '~*']],
  ])('rules %j need no administrator', async (rules) => {
    await pass([{ name: 'app', rules }]);
    expect(await look([{ name: 'app', rules }])).toEqual(inOrder);
  });

  it('an administrator may do everything', async () => {
    await pass([{ name: 'app', rules: ['+@all', '~*', '&*'], admin: true }]);
    expect(await login('app', 'one', 'CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '0']);
  });

  it('a Secret that is of no use holds up its own user alone, which stays as it is', async () => {
    const users = [app, { name: 'other', rules: ['+ping'] }];
    await pass(users);
    secrets.app = {};
    const changed = [
      { ...app, rules: ['+get'] },
      { name: 'other', rules: ['+ping', '+echo'] },
    ];
    expect(await pass(changed)).toEqual(['set user other on db-0']);
    expect(await login('app', 'one', 'SET', 'app:a', '1')).toBe('OK');
    expect(await login('other', 'two', 'ECHO', 'a')).toBe('a');
  });

  it('what no server has is told of, not taken for no users', async () => {
    await stage.ask(
      'n1',
      'ACL',
      'SETUSER',
      recordUser,
      ...Array.from({ length: 40 }, (_, i) => `~${i}${'k'.repeat(2_000)}`),
    );
    expect(await look([app])).toEqual({ unknown: expect.any(String) });
    expect(await pass([app])).toEqual([]);
  });

  it('every rule that the schema takes goes to the server as it is, and comes back from its record', async () => {
    const { pattern, maxLength } = usersSchema.items.properties.rules.items;
    const rule = fc.stringMatching(new RegExp(pattern)).filter((text) => text.length <= maxLength);
    const talk = await stage.open('n1');
    const rules = fc.array(rule, { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(rules, async (written) => {
        const words = wordsOf([hashOf('one')], written);
        const records = [{ name: 'app', digest: '0'.repeat(16), words }];
        expect(await talk.say('ACL', 'SETUSER', ...recordRule(records))).toBe('OK');
        const told = (await talk.say('ACL', 'GETUSER', recordUser)) as never;
        expect(recordsIn(told)).toEqual(records);
        // The server may accept or refuse these words. It reads them as rules only: they add no password, remove none, and switch no user on.
        await talk.say('ACL', 'SETUSER', 'fuzzed', 'reset', 'off', ...words);
        const user = await talk.say('ACL', 'GETUSER', 'fuzzed');
        if (user !== null)
          expect(user).toMatchObject({
            0: 'flags',
            1: expect.not.arrayContaining(['on', 'nopass']),
            3: [hashOf('one')],
          });
        await talk.say('ACL', 'DELUSER', 'fuzzed');
      }),
      { numRuns: 300 },
    );
  });
});
