import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { digestOf, isOn, recordRule, recordsIn } from '../../../src/engines/redis/client/user-record.ts';
import { type WantedUser, wantedUsers } from '../../../src/engines/redis/client/wanted-users.ts';
import type { NodeUsers } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { usersOf } from '../../../src/engines/redis/observe/users.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { realContext } from '../../support/real-context.ts';
import { redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';

const shown = (flags: readonly string[] = ['on'], commands = '+get', ...passwords: readonly string[]): Reply => [
  ...['flags', flags, 'passwords', passwords, 'commands', commands, 'keys', '~a', 'channels', '', 'selectors', []],
];
const words = ['#1', '+get', '~a'];
const app: WantedUser = { name: 'app', isAdmin: false, words };
const record = { name: 'app', digest: digestOf(shown(['off'])), words };

describe('the users of a data node', () => {
  it.each<readonly [story: string, records: readonly (typeof record)[], wanted: WantedUser, found: Reply, NodeUsers]>([
    ['in order', [record], app, shown(), { due: [], byHand: [], former: [] }],
    ['not there', [], app, null, { due: ['app'], byHand: [], former: [] }],
    ['deleted', [record], app, null, { due: ['app'], byHand: [], former: [] }],
    ['made by somebody else', [], app, shown(), { due: ['app'], byHand: ['app'], former: [] }],
    ['off', [record], app, shown(['off']), { due: ['app'], byHand: [], former: [] }],
    ['open', [record], app, shown(['on', 'nopass']), { due: ['app'], byHand: [], former: [] }],
    ['with more rules', [record], app, shown(['on'], '+get +set'), { due: ['app'], byHand: [], former: [] }],
    ['with another password', [record], app, shown(['on'], '+get', '2'), { due: ['app'], byHand: [], former: [] }],
    ['with another spec', [record], { ...app, words: ['#2'] }, shown(), { due: ['app'], byHand: [], former: [] }],
    ['an odd answer', [record], app, 'OK', { due: ['app'], byHand: [], former: [] }],
    [
      'a Secret of no use',
      [record],
      { name: 'app', isAdmin: false, problem: 'why' },
      null,
      { due: [], byHand: [], former: [] },
    ],
    [
      'not in the spec any more',
      [{ ...record, name: 'gone' }],
      app,
      null,
      { due: ['app'], byHand: [], former: ['gone'] },
    ],
  ])('%s', (_, records, wanted, found, expected) => {
    expect(usersOf(records, [wanted], new Map([['app', found]]))).toEqual(expected);
  });
});

describe('the record of a server', () => {
  const told = (keys: string): Reply => ['flags', ['off'], 'passwords', [], 'commands', '-@all', 'keys', keys];

  it('comes back as it was written', () => {
    const records = [record, { name: 'b', digest: '0', words: ['(+get', '~x)'] }];
    const [, , , ...patterns] = recordRule(records);
    expect(recordsIn(told(patterns.join(' ')))).toEqual(records);
  });

  it.each<readonly [story: string, answer: Reply, names: readonly string[] | undefined]>([
    ['no such user is no record', null, []],
    ['no pattern', told(''), []],
    ['a foreign pattern', told('~* ~a;b;c %R~x'), ['a', '~x']],
    ['reserved names', told('~default;1 ~clusterwright-users;1 ~clusterwright/a/b;1'), []],
    ['no answer to the question', 'OK', undefined],
    ['a number', 1, undefined],
    ['no patterns told', ['flags', ['on'], 'passwords', ['keys']], undefined],
    ['patterns as a list', ['keys', ['~a']], undefined],
  ])('%s', (_, answer, names) => {
    expect(recordsIn(answer)?.map(({ name }) => name)).toEqual(names?.filter((name) => !name.includes('~')));
  });

  it('is on where the server says so', () => {
    expect([isOn(shown()), isOn(shown(['off'])), isOn('on'), isOn(null)]).toEqual([true, false, false, false]);
  });
});

describe('a Secret of a user', () => {
  const cluster = redisCluster({ users: [{ name: 'app', secretRef: { name: 's', key: 'k' }, rules: ['(+get ~a)'] }] });
  it.each<readonly [values: Readonly<Record<string, string>> | undefined, problem: string]>([
    [undefined, 'Secret s with key k does not exist'],
    [{ password: 'a' }, 'Secret s with key k does not exist'],
    [{ k: '\n' }, 'Secret s has no password in the first line of its key k'],
    [{ k: 'a\tb' }, 'Secret s names a password that is of no use: key k has a control character, or is not UTF-8'],
    [{ k: 'a', 'k-next': '' }, 'Secret s names a password that is of no use: key k-next is empty'],
  ])('%j is of no use', async (values, problem) => {
    const io = { ...realContext({}), secret: async () => values };
    expect(await wantedUsers(cluster, io)).toEqual([{ name: 'app', isAdmin: false, problem }]);
  });

  it('that cannot be read is a problem of its user alone', async () => {
    const io = { ...realContext({}), secret: () => Promise.reject(new Error('403')) };
    expect(await wantedUsers(cluster, io)).toMatchObject([{ problem: 'Secret s cannot be read: 403' }]);
  });

  it('gives hashes, never a password', async () => {
    const [user] = await wantedUsers(cluster, realContext({ s: { k: 'one', 'k-next': 'two', 'k-previous': 'three' } }));
    expect(user?.words).toEqual([...Array(3).fill(expect.stringMatching(/^#[0-9a-f]{64}$/)), '(+get', '~a)']);
  });
});

describe('a plan', () => {
  const due = (users: Partial<Exclude<NodeUsers, { unknown: string }>>): NodeUsers => ({
    due: [],
    byHand: [],
    former: [],
    ...users,
  });
  const planOf = (story: Story) => {
    const { cluster, children, observed } = redisWorld(story);
    const situation = situationOf(cluster, children, observed);
    const plan = planRedis(situation);
    const acts = plan.steps.flatMap((step) => (step.type === 'act' ? [step] : []));
    return { acts, plan, status: redisStatus(situation, plan) };
  };

  it('sets and removes on each node by itself, and reads the spec anew before a removal', () => {
    const { acts } = planOf({
      nodes: {
        0: { users: due({ due: ['a', 'b'], byHand: ['b'] }) },
        2: { users: due({ former: ['c'], due: ['a'] }) },
      },
    });
    expect(acts.map(({ summary, destructive, event }) => [summary, destructive, event])).toEqual([
      ['set users a, b on db-0, in the place of b that somebody else has made', undefined, 'UserTakenOver'],
      ['remove user c from db-2', true, undefined],
      ['set user a on db-2', undefined, undefined],
    ]);
  });

  it('waits where users cannot be read, and neither sets nor removes any there', () => {
    const { acts, plan } = planOf({ nodes: { 1: { users: { unknown: 'why' } } } });
    expect(acts).toEqual([]);
    expect(plan.outcome).toMatchObject({
      state: 'wait',
      reason: 'UsersUnknown',
      message: 'the users of data nodes cannot be read: db-1: why',
    });
  });

  it('is in no hurry to set anything where all are in order, and tells of Secrets that are of no use', () => {
    const { acts, plan, status } = planOf({
      nodes: { all: { users: due({}) } },
      observed: { userProblems: ['a: why'] },
    });
    expect([acts, plan.outcome.state]).toEqual([[], 'settled']);
    expect(status.conditions.filter(({ type }) => type.startsWith('User'))).toEqual([
      { type: 'UserSecretMissing', status: 'True', reason: 'SecretUnusable', message: 'a: why' },
    ]);
  });
});
