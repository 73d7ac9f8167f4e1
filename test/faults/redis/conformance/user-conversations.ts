/** Conversations about ACL users with limited rights: how a server sets, describes, tries, removes and loses them. */
import { hashOf } from '../../../../src/engines/redis/client/identity.ts';
import { recordRule, recordUser } from '../../../../src/engines/redis/client/user-record.ts';
import { type Conversation, pair } from './conversation.ts';
import type { Heard, Stage, Talk } from './stage.ts';

const hash = (text: string): string => `#${hashOf(text)}`;
const identity = `user own on ${hash('own')} ~* &* +@all`;
const set = (stage: Stage, name: string, ...words: readonly string[]): Promise<Heard> =>
  stage.ask('n1', 'ACL', 'SETUSER', name, 'reset', ...words);
const app = ['on', hash('one'), '~app:*', '+set', '+get', '&app'] as const;

/** A connection of the user, and what its login was answered. */
async function logIn(stage: Stage, name: string, secret: string): Promise<readonly [Talk, Heard]> {
  const talk = await stage.open('n1', false);
  return [talk, await talk.say('AUTH', name, secret)];
}

/** What the user is answered, one after the other; of a refusal the first word. */
async function asUser(stage: Stage, name: string, secret: string, ...lines: readonly string[]): Promise<Heard[]> {
  const [talk, answer] = await logIn(stage, name, secret);
  const answers = [answer];
  for (const line of lines) answers.push(await talk.say(...line.split(' ')));
  talk.close();
  return answers.map(firstWord);
}

const firstWord = (reply: Heard): Heard => (typeof reply === 'string' ? (reply.split(' ')[0] ?? '') : reply);

/** Who may not is `This user`, or is named. */
const withoutName = (reply: Heard): Heard =>
  typeof reply === 'string' ? reply.replace(/^(This user|User \S+) /, '') : reply;

/** What all versions tell alike of a user. */
async function describedAt(stage: Stage, member: string, name: string): Promise<Heard> {
  const told = await stage.ask(member, 'ACL', 'GETUSER', name);
  if (!Array.isArray(told)) return told;
  const fieldOf = (field: string): Heard => told[told.indexOf(field) + 1] ?? null;
  const flags = fieldOf('flags');
  const state = Array.isArray(flags) && flags.includes('on') ? 'on' : 'off';
  // Redis 7.0 tells commands in another order after each start.
  const commands = String(fieldOf('commands')).split(' ').sort().join(' ');
  return [state, fieldOf('passwords'), commands, ...['keys', 'channels', 'selectors'].map(fieldOf)];
}
const described = (stage: Stage, name: string): Promise<Heard> => describedAt(stage, 'n1', name);

/** What the server answers to a call that this user might make. */
const tries = (stage: Stage, name: string, line: string): Promise<Heard> =>
  stage.ask('n1', 'ACL', 'DRYRUN', name, ...line.split(' '));

export const userConversations: readonly Conversation[] = [
  {
    story: 'a user is told of as it was set, and may do what its rules say and nothing else',
    async play(stage) {
      await stage.start('n1');
      const lines = ['SET app:a 1', 'GET app:a', 'GET b', 'PING', 'CONFIG GET maxmemory'];
      const told = [await set(stage, 'app', ...app), await described(stage, 'app')];
      return [told, await asUser(stage, 'app', 'one', ...lines), await asUser(stage, 'app', 'two')];
    },
    yields: [
      ['OK', ['on', [hashOf('one')], '+get +set -@all', '~app:*', '&app', []]],
      ['OK', 'OK', '1', '-NOPERM', '-NOPERM', '-NOPERM'],
      ['-WRONGPASS'],
    ],
  },
  {
    story: 'a selector allows by itself, and two passwords are taken',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', 'on', hash('one'), hash('two'), '+get', '~a', '(+set', '~b)');
      const lines = ['GET a', 'SET b 1', 'GET b', 'SET a 1'];
      return [
        await described(stage, 'app'),
        await asUser(stage, 'app', 'one', ...lines),
        await asUser(stage, 'app', 'two'),
      ];
    },
    yields: [
      [
        'on',
        [hashOf('one'), hashOf('two')],
        '+get -@all',
        '~a',
        '',
        [['commands', '-@all +set', 'keys', '~b', 'channels', '']],
      ],
      ['OK', null, 'OK', '-NOPERM', '-NOPERM'],
      ['OK'],
    ],
  },
  {
    story: 'everything but what administrators do: a category in the rules',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', 'on', hash('one'), '+@all', '-@admin', '~*');
      const lines = ['SET a 1', 'CONFIG GET maxmemory', 'ACL USERS', 'REPLICAOF NO ONE', 'ROLE'];
      return [await described(stage, 'app'), await asUser(stage, 'app', 'one', ...lines)];
    },
    yields: [
      ['on', [hashOf('one')], '+@all -@admin', '~*', '', []],
      ['OK', 'OK', '-NOPERM', '-NOPERM', '-NOPERM', '-NOPERM'],
    ],
  },
  {
    story: 'a user who is off may not log in, and who is set anew keeps nothing of before',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', ...app);
      const off = await stage.ask('n1', 'ACL', 'SETUSER', 'app', 'off');
      const answers = [await asUser(stage, 'app', 'one')];
      await set(stage, 'app', 'on', hash('two'), '~b', '+get');
      answers.push(await asUser(stage, 'app', 'one'), await asUser(stage, 'app', 'two', 'GET b', 'GET app:a'));
      return [off, answers, await described(stage, 'app')];
    },
    yields: [
      'OK',
      [['-WRONGPASS'], ['-WRONGPASS'], ['OK', null, '-NOPERM']],
      ['on', [hashOf('two')], '+get -@all', '~b', '', []],
    ],
  },
  {
    story: 'a connection stays open while the rules of its user change, and the new rules apply at once',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', ...app);
      const [talk] = await logIn(stage, 'app', 'one');
      const before = await talk.say('GET', 'app:a');
      await set(stage, 'app', 'on', hash('two'), '~b', '+get');
      const after = [firstWord(await talk.say('GET', 'app:a')), await talk.say('GET', 'b')];
      talk.close();
      return [before, after];
    },
    yields: [null, ['-NOPERM', null]],
  },
  {
    story: 'who is removed is gone with its connections, and nobody else is',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', ...app);
      await set(stage, 'other', 'on', hash('one'), '+ping');
      const [[talk], [another]] = [await logIn(stage, 'app', 'one'), await logIn(stage, 'other', 'one')];
      const count = await stage.ask('n1', 'ACL', 'DELUSER', 'app', 'nosuch');
      const answers = [await talk.say('GET', 'app:a'), await another.say('PING')];
      another.close();
      const left = [await described(stage, 'app'), await stage.ask('n1', 'ACL', 'USERS')];
      return [count, answers, left, await stage.ask('n1', 'ACL', 'DELUSER', 'app')];
    },
    yields: [1, ['ended', 'PONG'], [null, ['default', 'other']], 0],
  },
  {
    story: 'the default user stays',
    async play(stage) {
      await stage.start('n1');
      return stage.ask('n1', 'ACL', 'DELUSER', 'default');
    },
    yields: "-ERR The 'default' user cannot be removed",
  },
  {
    story: 'rules that the server refuses change nothing of the user, whatever stands before them',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', ...app);
      const refused = [];
      for (const rules of [['+nosuch'], ['+@nosuch'], ['foo'], ['~*', '~a'], ['#zz'], ['(+get']]) {
        refused.push(await set(stage, 'app', 'off', '+ping', ...rules));
      }
      return [
        refused,
        await described(stage, 'app'),
        await set(stage, 'new', '+nosuch'),
        await described(stage, 'new'),
      ];
    },
    yields: [
      [
        "-ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL",
        "-ERR Error in ACL SETUSER modifier '+@nosuch': Unknown command or category name in ACL",
        "-ERR Error in ACL SETUSER modifier 'foo': Syntax error",
        "-ERR Error in ACL SETUSER modifier '~a': Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns",
        "-ERR Error in ACL SETUSER modifier '#zz': The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters",
        "-ERR Unmatched parenthesis in acl selector starting at '(+get'.",
      ],
      ['on', [hashOf('one')], '+get +set -@all', '~app:*', '&app', []],
      "-ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL",
      null,
    ],
  },
  {
    story: 'the record of users is text to the server, and nobody can log in by it',
    async play(stage) {
      await stage.start('n1');
      const records = [
        { name: 'app', digest: '0a', words: [hash('one'), '+get', '(+set', '~x:*)'] },
        { name: 'b', digest: '1', words: ['&c'] },
      ];
      const told = await stage.ask('n1', 'ACL', 'SETUSER', ...recordRule(records));
      const shown = await described(stage, recordUser);
      return [told, shown, await asUser(stage, recordUser, ''), await asUser(stage, recordUser, 'one')];
    },
    yields: [
      'OK',
      ['off', [], '-@all', `~app;0a;${hash('one')};+get;(+set;~x:*) ~b;1;&c`, '', []],
      ['-WRONGPASS'],
      ['-WRONGPASS'],
    ],
  },
  {
    story: 'the server tells what a user might do who is off',
    async play(stage) {
      await stage.start('n1');
      await set(stage, 'app', 'off', '+get', '+config|get', '~app:*', '+publish', '&app');
      const calls = ['get app:a', 'get b', 'set app:a 1', 'config get x', 'config set x y', 'publish app x'];
      const answers = [];
      for (const call of [...calls, 'publish other x', 'nosuch', 'get', 'replicaof x x']) {
        answers.push(withoutName(await tries(stage, 'app', call)));
      }
      return [answers, await tries(stage, 'nosuch', 'get a')];
    },
    yields: [
      [
        ...['OK', "has no permissions to access the 'b' key", "has no permissions to run the 'set' command"],
        ...['OK', "has no permissions to run the 'config|set' command", 'OK'],
        "has no permissions to access the 'other' channel",
        "-ERR Command 'nosuch' not found",
        "-ERR wrong number of arguments for 'get' command",
        "has no permissions to run the 'replicaof' command",
      ],
      "-ERR User 'nosuch' not found",
    ],
  },
  {
    story: 'the server tells which commands are those of administrators, and how many words they take',
    async play(stage) {
      await stage.start('n1');
      const named = await stage.ask('n1', 'ACL', 'CAT', 'admin');
      const asked = ['acl|setuser', 'client|kill', 'config|set', 'get', 'replicaof', 'role', 'set', 'shutdown'];
      const admin = asked.filter((name) => Array.isArray(named) && named.includes(name));
      const shapes = await stage.ask('n1', 'COMMAND', 'INFO', ...asked, 'nosuch');
      const words = Array.isArray(shapes) ? shapes.map((shape) => (Array.isArray(shape) ? shape[1] : shape)) : shapes;
      return [admin, words, await stage.ask('n1', 'ACL', 'CAT', 'nosuch')];
    },
    yields: [
      ['acl|setuser', 'client|kill', 'config|set', 'replicaof', 'role', 'shutdown'],
      [-3, -3, -4, 2, 3, 1, -3, -1, null],
      "-ERR Unknown category 'nosuch'",
    ],
  },
  {
    story: 'a server that starts again has the users of its file alone',
    async play(stage) {
      await stage.start('n1', [identity]);
      await set(stage, 'app', ...app);
      const before = await stage.ask('n1', 'ACL', 'USERS');
      await stage.kill('n1');
      await stage.start('n1', [identity]);
      return [before, await stage.ask('n1', 'ACL', 'USERS'), await asUser(stage, 'app', 'one')];
    },
    yields: [['app', 'default', 'own'], ['default', 'own'], ['-WRONGPASS']],
  },
  {
    story: 'users are not copied to replicas',
    async play(stage) {
      await pair(stage);
      await set(stage, 'app', ...app);
      await stage.ask('n1', 'SET', 'a', '1');
      await stage.until('the write is there', async () => (await stage.ask('n2', 'GET', 'a')) === '1');
      return [await stage.ask('n2', 'ACL', 'USERS'), await describedAt(stage, 'n2', 'app')];
    },
    yields: [['default'], null],
  },
];
