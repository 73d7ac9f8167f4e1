/** What is said with one data node. */

import { hashOf } from '../../../../src/engines/redis/client/identity.ts';
import { type Conversation, dialogue, firstWords, info, pairsOf, pick } from './conversation.ts';
import { ended, password } from './stage.ts';

const wrongPassword = '-WRONGPASS invalid username-password pair or user is disabled.';

export const dataConversations: readonly Conversation[] = [
  {
    story: 'a stranger is told nothing, whatever it asks',
    async play(stage) {
      await stage.start('n1');
      const lines = [
        'PING',
        'INFO',
        'SET a 1',
        'NOSUCH a b',
        'GET',
        'AUTH wrong',
        'AUTH default wrong',
        'AUTH nobody x',
        'PING',
      ];
      const talk = await stage.open('n1', false);
      const before = await dialogue(stage, 'n1', lines, false);
      const after = [await talk.say('AUTH', 'default', password), await talk.say('PING'), await talk.say('AUTH', 'no')];
      return [...before, ...after, await talk.say('PING')];
    },
    yields: [
      ...Array(3).fill('-NOAUTH Authentication required.'),
      "-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' ",
      "-ERR wrong number of arguments for 'get' command",
      ...Array(3).fill('-WRONGPASS invalid username-password pair or user is disabled.'),
      '-NOAUTH Authentication required.',
      ...['OK', 'PONG'],
      '-WRONGPASS invalid username-password pair or user is disabled.',
      'PONG',
    ],
  },
  {
    story: 'another user logs in with the password of which the server has the hash',
    async play(stage) {
      await stage.start('n1', [`user own on #${hashOf('first')} ~* &* +@all`]);
      const said = await dialogue(stage, 'n1', [
        ...['AUTH own first', 'SET a 1', 'AUTH own wrong', 'AUTH default first'],
        `ACL SETUSER own reset on #${hashOf('second')} ~* &* +@all`,
        ...['AUTH own first', 'AUTH own second', 'AUTH second', 'GET a', 'ACL GETUSER nobody'],
      ]);
      const passwords = await Promise.all(
        ['own', 'default'].map(async (name) => {
          const user = await stage.ask('n1', 'ACL', 'GETUSER', name);
          return Array.isArray(user) ? user.slice(0, 4) : user;
        }),
      );
      return [...said, ...passwords];
    },
    yields: [
      ...['OK', 'OK', wrongPassword, wrongPassword, 'OK', wrongPassword, 'OK', wrongPassword, '1', null],
      ['flags', ['on', 'sanitize-payload'], 'passwords', [hashOf('second')]],
      ['flags', ['on'], 'passwords', [hashOf(password)]],
    ],
  },
  {
    story: 'without a password there is nothing to log in to',
    async play(stage) {
      await stage.start('n1', ['requirepass ""']);
      return dialogue(stage, 'n1', ['AUTH x', 'PING'], false);
    },
    yields: [
      '-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
      'PONG',
    ],
  },
  {
    story: 'keys, one by one and many at once',
    async play(stage) {
      await stage.start('n1');
      return dialogue(stage, 'n1', [
        ...['SET a 1', 'GET a', 'GET b', 'MSET b 2 c 3', 'MGET a b nosuch c', 'DBSIZE', 'DEL a nosuch', 'EXISTS a b'],
        ...['GET', 'SET a', 'FLUSHALL', 'DBSIZE', 'PING x'],
      ]);
    },
    yields: [
      ...['OK', '1', null, 'OK', ['1', '2', null, '3'], 3, 1, 1],
      "-ERR wrong number of arguments for 'get' command",
      "-ERR wrong number of arguments for 'set' command",
      ...['OK', 0, 'x'],
    ],
  },
  {
    story: 'a primary alone: writes are not even counted',
    async play(stage) {
      await stage.start('n1');
      await stage.ask('n1', 'SET', 'a', '1');
      const fields = await info(stage, 'n1');
      const role = await stage.ask('n1', 'ROLE');
      const keyspace = await info(stage, 'n1', 'keyspace');
      const names = ['role', 'connected_slaves', 'master_replid2', 'master_repl_offset', 'second_repl_offset'];
      return [pick(fields, ...names, 'repl_backlog_active'), role, keyspace];
    },
    yields: [['master', '0', '0'.repeat(40), '0', '-1', '0'], ['master', 0, []], { db0: 'keys=1,expires=0,avg_ttl=0' }],
  },
  {
    story: 'paused writes wait, reads do not; they go on when the pause is ended, or ends',
    async play(stage) {
      await stage.start('n1');
      const writer = await stage.open('n1');
      const other = await stage.open('n1');
      let wasAnswered = false;
      const paused = await other.say('CLIENT', 'PAUSE', '60000', 'WRITE');
      const write = Promise.all([writer.say('SET', 'a', '1'), writer.say('GET', 'a')]).then((replies) => {
        wasAnswered = true;
        return replies;
      });
      const meanwhile = [await other.say('GET', 'a'), await other.say('PING'), await other.say('INFO', 'x')];
      const early = wasAnswered;
      const resumed = await other.say('CLIENT', 'UNPAUSE');
      const released = await write;
      await other.say('CLIENT', 'PAUSE', '50', 'WRITE');
      return [paused, meanwhile, early, resumed, released, await writer.say('SET', 'b', '1')];
    },
    yields: ['OK', [null, 'PONG', ''], false, 'OK', ['OK', '1'], 'OK'],
  },
  {
    story: 'without an append-only file a killed node has nothing',
    async play(stage) {
      await stage.start('n1', ['appendonly no']);
      await stage.ask('n1', 'SET', 'a', '1');
      await stage.kill('n1');
      await stage.start('n1', ['appendonly no']);
      const lost = await stage.ask('n1', 'GET', 'a');
      await dialogue(stage, 'n1', ['SET a 2', 'SAVE', 'SET a 3']);
      await stage.kill('n1');
      await stage.start('n1', ['appendonly no']);
      return [lost, await stage.ask('n1', 'GET', 'a')];
    },
    yields: [null, '2'],
  },
  {
    story: 'CLIENT KILL sends everybody else away',
    async play(stage) {
      await stage.start('n1');
      const [one, two] = [await stage.open('n1'), await stage.open('n1')];
      const killed = await one.say('CLIENT', 'KILL', 'TYPE', 'normal');
      return [killed, await two.say('PING'), await one.say('PING'), await one.say('CLIENT', 'NOSUCH')];
    },
    yields: [1, ended, 'PONG', "-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."],
  },
  {
    story: 'a directive that it does not know keeps it from starting',
    play: (stage) => stage.start('n1', ['no-such-directive yes']).catch((error: Error) => error.message),
    yields: 'n1 does not start',
  },
  {
    story: 'what CONFIG takes, and what it refuses',
    async play(stage) {
      await stage.start('n1');
      return dialogue(stage, 'n1', [
        'CONFIG GET replica-priority',
        'CONFIG SET replica-priority 0 hz 20',
        'CONFIG GET replica-priority hz nosuch',
        'CONFIG SET nosuch 1',
        'CONFIG SET hz abc',
        'CONFIG SET hz 30 activerehashing maybe',
        'CONFIG GET hz',
        'CONFIG SET databases 3',
        'CONFIG SET maxmemory-policy sometimes',
        'CONFIG SET maxmemory lots',
        'CONFIG SET maxmemory 100mb repl-backlog-size 1',
        'CONFIG GET maxmemory repl-backlog-size',
        'CONFIG SET hz 1 hz 2',
        'CONFIG SET hz',
        'CONFIG SET min-replicas-max-lag 5',
        'CONFIG GET min-replicas-max*',
        'CONFIG SET appendfsync often',
      ]).then((replies) => replies.map((reply) => (Array.isArray(reply) ? pairsOf(reply) : firstWords(reply))));
    },
    yields: [
      { 'replica-priority': '100' },
      'OK',
      { 'replica-priority': '0', hz: '20' },
      "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'",
      "-ERR CONFIG SET failed (possibly related to argument 'hz') - argument couldn't be parsed into an integer",
      "-ERR CONFIG SET failed (possibly related to argument 'activerehashing') - argument must be 'yes' or 'no'",
      { hz: '20' },
      "-ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config",
      "-ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - argument(s) must be one of the following",
      "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a memory value",
      'OK',
      { maxmemory: '104857600', 'repl-backlog-size': '16384' },
      "-ERR CONFIG SET failed (possibly related to argument 'hz') - duplicate parameter",
      "-ERR wrong number of arguments for 'config|set' command",
      'OK',
      { 'min-replicas-max-lag': '5' },
      "-ERR CONFIG SET failed (possibly related to argument 'appendfsync') - argument(s) must be one of the following",
    ],
  },
];
