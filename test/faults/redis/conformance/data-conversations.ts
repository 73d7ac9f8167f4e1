/** What is said with data nodes. Each conversation yields something that must be as expected on either stage. */
import { ended, type Heard, password, type Stage } from './stage.ts';

export interface Conversation {
  readonly story: string;
  /** Resolves with what was learned. */
  play(stage: Stage): Promise<unknown>;
  readonly yields: unknown;
}

/** The fields of a section of INFO. */
export async function info(stage: Stage, member: string, section = 'replication'): Promise<Record<string, string>> {
  const text = String(await stage.ask(member, 'INFO', section));
  return Object.fromEntries(
    text.split('\r\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at < 0 || line.startsWith('#') ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

export function pick(fields: Readonly<Record<string, string>>, ...names: readonly string[]): (string | undefined)[] {
  return names.map((name) => fields[name]);
}

/** Follows, and waits until the two agree that the link is up. */
export async function follow(stage: Stage, replica: string, primary: string): Promise<void> {
  await stage.ask(replica, 'REPLICAOF', stage.address(primary), '6379');
  await inSync(stage, replica, primary);
}

export async function inSync(stage: Stage, replica: string, primary: string): Promise<void> {
  await stage.until(`${replica} in sync with ${primary}`, async () => {
    const [below, above] = [await info(stage, replica), await info(stage, primary)];
    const seen = Object.entries(above).some(
      ([name, value]) => /^slave\d/.test(name) && value.includes(`ip=${replica},`) && value.includes('state=online'),
    );
    const isLevel =
      below.slave_repl_offset === above[above.role === 'master' ? 'master_repl_offset' : 'slave_repl_offset'];
    return below.master_link_status === 'up' && below.master_host === primary && seen && isLevel;
  });
}

async function pair(stage: Stage): Promise<void> {
  await Promise.all([stage.start('n1'), stage.start('n2')]);
  await follow(stage, 'n2', 'n1');
}

async function trio(stage: Stage): Promise<void> {
  await Promise.all([pair(stage), stage.start('n3')]);
  await follow(stage, 'n3', 'n1');
}

/** Each command in turn on one connection. */
async function dialogue(stage: Stage, member: string, lines: readonly string[], login = true): Promise<Heard[]> {
  const talk = await stage.open(member, login);
  const replies: Heard[] = [];
  for (const line of lines) replies.push(await talk.say(...line.split(' ')));
  talk.close();
  return replies;
}

const readonlyError = "-READONLY You can't write against a read only replica.";

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
    story: 'a node that follows nobody',
    async play(stage) {
      await stage.start('n1', ['replicaof 127.0.0.1 1', 'replica-priority 0']);
      const fields = await info(stage, 'n1');
      const names = ['role', 'master_host', 'master_port', 'master_link_status', 'master_sync_in_progress'];
      const more = [
        'slave_repl_offset',
        'slave_priority',
        'master_link_down_since_seconds',
        'master_last_io_seconds_ago',
      ];
      const [kind, host, port, , offset] = (await stage.ask('n1', 'ROLE')) as Heard[];
      const write = await stage.ask('n1', 'SET', 'a', '1');
      return [pick(fields, ...names, ...more, 'master_repl_offset'), [kind, host, port, offset], write];
    },
    yields: [
      ['slave', '127.0.0.1', '1', 'down', '0', '1', '0', '-1', '-1', '0'],
      ['slave', '127.0.0.1', 1, -1],
      readonlyError,
    ],
  },
  {
    story: 'a node that followed nobody and is made primary',
    async play(stage) {
      await stage.start('n1', ['replicaof 127.0.0.1 1']);
      const before = await info(stage, 'n1');
      await stage.ask('n1', 'REPLICAOF', 'NO', 'ONE');
      await stage.ask('n1', 'SET', 'a', '1');
      const after = await info(stage, 'n1');
      await stage.start('n2');
      await follow(stage, 'n2', 'n1');
      const last = await info(stage, 'n1');
      return [
        pick(before, 'repl_backlog_active', 'master_repl_offset', 'second_repl_offset'),
        pick(after, 'role', 'repl_backlog_active', 'master_repl_offset', 'second_repl_offset'),
        [after.master_replid === before.master_replid, after.master_replid2 === before.master_replid],
        pick(last, 'repl_backlog_active', 'second_repl_offset'),
        [last.master_replid === after.master_replid, last.master_replid2 === after.master_replid2],
        await stage.ask('n2', 'GET', 'a'),
      ];
    },
    yields: [['0', '0', '-1'], ['master', '0', '0', '1'], [false, true], ['1', '-1'], [false, false], '1'],
  },
  {
    story: 'a replica copies, replaces what it had, and takes no writes',
    async play(stage) {
      await Promise.all([stage.start('n1'), stage.start('n2')]);
      await stage.ask('n1', 'SET', 'a', '1');
      await stage.ask('n2', 'SET', 'own', '1');
      const told = await dialogue(stage, 'n2', [
        `REPLICAOF ${stage.address('n1')} 6379`,
        `REPLICAOF ${stage.address('n1')} 6379`,
      ]);
      await inSync(stage, 'n2', 'n1');
      const above = await info(stage, 'n1');
      const below = await info(stage, 'n2');
      const [kind, host, port, state, offset] = (await stage.ask('n2', 'ROLE')) as Heard[];
      const [primaryKind, , replicas] = (await stage.ask('n1', 'ROLE')) as Heard[];
      return {
        told,
        keys: await stage.ask('n2', 'MGET', 'a', 'own'),
        write: await stage.ask('n2', 'SET', 'b', '1'),
        seen: above.slave0?.replace(/offset=\d+,lag=[01]$/, ''),
        primary: pick(above, 'role', 'connected_slaves', 'repl_backlog_active'),
        replica: pick(below, 'role', 'master_host', 'master_port', 'master_link_status', 'master_sync_in_progress'),
        sameHistory: below.master_replid === above.master_replid,
        noDownTime: below.master_link_down_since_seconds,
        role: [kind, host, port, state, Number(offset) >= 0],
        primaryRole: [primaryKind, (replicas as Heard[][]).map(([ip, port]) => [ip, port])],
      };
    },
    yields: {
      told: ['OK', 'OK Already connected to specified master'],
      keys: ['1', null],
      write: readonlyError,
      seen: 'ip=n2,port=6379,state=online,',
      primary: ['master', '1', '1'],
      replica: ['slave', 'n1', '6379', 'up', '0'],
      sameHistory: true,
      noDownTime: undefined,
      role: ['slave', 'n1', 6379, 'connected', true],
      primaryRole: ['master', [['n2', '6379']]],
    },
  },
  {
    story: 'WAIT counts the replicas that have the write',
    async play(stage) {
      await stage.start('n1');
      const alone = await dialogue(stage, 'n1', [
        'WAIT 0 10',
        'SET a 1',
        'WAIT 0 10',
        'WAIT 1 30',
        'WAIT x 1',
        'WAIT 1 -1',
      ]);
      await Promise.all([stage.start('n2'), stage.start('n3')]);
      await follow(stage, 'n2', 'n1');
      const one = await dialogue(stage, 'n1', ['SET b 1', 'WAIT 1 5000', 'WAIT 2 30']);
      await follow(stage, 'n3', 'n1');
      const two = await dialogue(stage, 'n1', ['SET c 1', 'WAIT 2 0', 'WAIT 1 0']);
      return [alone, one, two, await stage.ask('n2', 'WAIT', '1', '1'), await stage.ask('n2', 'GET', 'c')];
    },
    yields: [
      [0, 'OK', 0, 0, '-ERR value is not an integer or out of range', '-ERR timeout is negative'],
      ['OK', 1, 1],
      ['OK', 2, 2],
      '-ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.',
      '1',
    ],
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
    story: 'a write that was paused finds a replica when the pause is over',
    async play(stage) {
      await pair(stage);
      const writer = await stage.open('n1');
      const other = await stage.open('n1');
      await other.say('CLIENT', 'PAUSE', '60000', 'WRITE');
      const write = writer.say('SET', 'a', '1');
      await other.say('PING');
      await stage.ask('n2', 'REPLICAOF', 'NO', 'ONE');
      await follow(stage, 'n1', 'n2');
      return [await other.say('CLIENT', 'UNPAUSE'), await write];
    },
    yields: ['OK', readonlyError],
  },
  {
    story: 'who waits for replicas is sent away by a node that becomes one',
    async play(stage) {
      await Promise.all([stage.start('n1'), stage.start('n2')]);
      const writer = await stage.open('n1');
      await writer.say('SET', 'a', '1');
      const waiting = writer.say('WAIT', '1', '0');
      await (await stage.open('n1')).say('PING');
      await stage.ask('n1', 'REPLICAOF', stage.address('n2'), '6379');
      return [await waiting, await writer.say('PING')];
    },
    yields: ['-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)', ended],
  },
  {
    story: 'without enough replicas no write is taken',
    async play(stage) {
      await Promise.all([stage.start('n1', ['min-replicas-to-write 1']), stage.start('n2')]);
      const alone = await dialogue(stage, 'n1', ['SET a 1', 'GET a', 'PING']);
      await follow(stage, 'n2', 'n1');
      const together = await dialogue(stage, 'n1', ['SET a 1', 'CONFIG SET min-replicas-to-write 2', 'SET a 2']);
      const good = pick(await info(stage, 'n1'), 'min_slaves_good_slaves');
      return [alone, together, good, await dialogue(stage, 'n1', ['CONFIG SET min-replicas-to-write 0', 'SET a 3'])];
    },
    yields: [
      ['-NOREPLICAS Not enough good replicas to write.', null, 'PONG'],
      ['OK', 'OK', '-NOREPLICAS Not enough good replicas to write.'],
      ['1'],
      ['OK', 'OK'],
    ],
  },
  {
    story: 'a replica that is promoted goes on with the same keys, and its fellow follows it without copying',
    async play(stage) {
      await trio(stage);
      await stage.ask('n1', 'SET', 'a', '1');
      await inSync(stage, 'n2', 'n1');
      await inSync(stage, 'n3', 'n1');
      const old = await info(stage, 'n1');
      const promoted = [
        await stage.ask('n2', 'REPLICAOF', 'NO', 'ONE'),
        await stage.ask('n2', 'REPLICAOF', 'NO', 'ONE'),
      ];
      await stage.ask('n2', 'SET', 'b', '1');
      await follow(stage, 'n3', 'n2');
      await follow(stage, 'n1', 'n2');
      const [now, below] = [await info(stage, 'n2'), await info(stage, 'n3')];
      return {
        promoted,
        remembers: now.master_replid2 === old.master_replid && now.master_replid !== old.master_replid,
        parted: Number(now.second_repl_offset) > 0,
        same: below.master_replid === now.master_replid && below.master_replid2 === now.master_replid2,
        syncs: pick(await info(stage, 'n2', 'stats'), 'sync_full', 'sync_partial_ok'),
        keys: [await stage.ask('n3', 'MGET', 'a', 'b'), await stage.ask('n1', 'MGET', 'a', 'b')],
      };
    },
    yields: {
      promoted: ['OK', 'OK'],
      remembers: true,
      parted: true,
      same: true,
      syncs: ['0', '2'],
      keys: [
        ['1', '1'],
        ['1', '1'],
      ],
    },
  },
  {
    story: 'what an old primary wrote after its successor was chosen is gone when it follows',
    async play(stage) {
      await pair(stage);
      await stage.ask('n2', 'REPLICAOF', 'NO', 'ONE');
      await stage.ask('n1', 'SET', 'late', '1');
      await stage.ask('n2', 'SET', 'right', '1');
      await follow(stage, 'n1', 'n2');
      return stage.ask('n1', 'MGET', 'late', 'right');
    },
    yields: [null, '1'],
  },
  {
    story: 'a replica passes on to a replica of its own',
    async play(stage) {
      await Promise.all([pair(stage), stage.start('n3')]);
      await follow(stage, 'n3', 'n2');
      await stage.ask('n1', 'SET', 'a', '1');
      await stage.until('the write is there', async () => (await stage.ask('n3', 'GET', 'a')) === '1');
      return pick(await info(stage, 'n2'), 'role', 'connected_slaves');
    },
    yields: ['slave', '1'],
  },
  {
    story: 'nobody copies from one that follows nobody, nor from itself',
    async play(stage) {
      await Promise.all([stage.start('n1', ['replicaof 127.0.0.1 1']), stage.start('n2')]);
      await stage.ask('n2', 'REPLICAOF', stage.address('n1'), '6379');
      await stage.ask('n1', 'REPLICAOF', stage.address('n1'), '6379');
      const states: unknown[] = [];
      for (const member of ['n1', 'n2']) states.push(pick(await info(stage, member), 'role', 'master_link_status'));
      return states;
    },
    yields: [
      ['slave', 'down'],
      ['slave', 'down'],
    ],
  },
  {
    story: 'a wrong password keeps a replica out; the right one lets it in',
    async play(stage) {
      await Promise.all([stage.start('n1'), stage.start('n2', ['masterauth wrong'])]);
      await stage.ask('n2', 'REPLICAOF', stage.address('n1'), '6379');
      const before = pick(await info(stage, 'n2'), 'master_link_status');
      const set = await stage.ask('n2', 'CONFIG', 'SET', 'masterauth', password);
      await inSync(stage, 'n2', 'n1');
      return [before, set];
    },
    yields: [['down'], 'OK'],
  },
  {
    story: 'the primary dies: its replica says since when, and keeps what it has',
    async play(stage) {
      await pair(stage);
      await stage.ask('n1', 'SET', 'a', '1');
      await inSync(stage, 'n2', 'n1');
      await stage.kill('n1');
      const isDown = async (): Promise<boolean> => (await info(stage, 'n2')).master_link_status === 'down';
      await stage.until('the link is down', isDown);
      const fields = await info(stage, 'n2');
      const [, , , , offset] = (await stage.ask('n2', 'ROLE')) as Heard[];
      const stale = await dialogue(stage, 'n2', [
        'GET a',
        'CONFIG SET replica-serve-stale-data no',
        'GET a',
        'PING',
        'ROLE',
      ]);
      return {
        fields: pick(fields, 'role', 'master_host', 'master_sync_in_progress', 'master_last_io_seconds_ago'),
        isCounting: Number(fields.master_link_down_since_seconds) >= 0,
        stands: Number(fields.slave_repl_offset) > 1,
        offset,
        stale: stale.map((reply) => (Array.isArray(reply) ? reply[0] : reply)),
      };
    },
    yields: {
      fields: ['slave', 'n1', '0', '-1'],
      isCounting: true,
      stands: true,
      offset: -1,
      stale: [
        ...['1', 'OK'],
        "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        'slave',
      ],
    },
  },
  {
    story: 'a killed node has every acknowledged write when it is back, and begins a new history',
    async play(stage) {
      await pair(stage);
      await stage.ask('n1', 'SET', 'a', '1');
      const before = await info(stage, 'n1');
      await stage.kill('n1');
      await stage.start('n1');
      const loaded = async (): Promise<boolean> => (await stage.ask('n1', 'PING')) === 'PONG';
      await stage.until('it has loaded', loaded);
      const after = await info(stage, 'n1');
      return [await stage.ask('n1', 'GET', 'a'), after.role, after.master_replid === before.master_replid];
    },
    yields: ['1', 'master', false],
  },
  {
    story: 'a restarted replica has its keys, and no position until it has copied',
    async play(stage) {
      await pair(stage);
      await stage.ask('n1', 'SET', 'a', '1');
      await inSync(stage, 'n2', 'n1');
      // Until the file is rewritten after the copy, a restart would find what was there before it.
      const rewritten = async (): Promise<boolean> =>
        (await info(stage, 'n2', 'persistence')).aof_rewrite_in_progress !== '1';
      await stage.until('the file is rewritten', rewritten);
      await stage.kill('n2');
      await stage.start('n2', ['replicaof 127.0.0.1 1']);
      await stage.until('it has loaded', async () => (await stage.ask('n2', 'PING')) === 'PONG');
      return [
        await stage.ask('n2', 'GET', 'a'),
        pick(await info(stage, 'n2'), 'slave_repl_offset', 'master_repl_offset'),
      ];
    },
    yields: ['1', ['1', '0']],
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
    story: 'SIGTERM ends it in order',
    async play(stage) {
      await pair(stage);
      await stage.ask('n1', 'SET', 'a', '1');
      const code = await stage.terminate('n1');
      return [code, await stage.ask('n2', 'GET', 'a')];
    },
    yields: [0, '1'],
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

export function pairsOf(reply: Heard): Record<string, string> {
  const items = Array.isArray(reply) ? reply.map(String) : [];
  return Object.fromEntries(items.flatMap((name, i) => (i % 2 === 0 ? [[name, items[i + 1] ?? '']] : [])));
}

/** The list of choices that follows some refusals is not ours to keep. */
const firstWords = (reply: Heard): Heard =>
  typeof reply === 'string' ? reply.replace(/(one of the following):.*/s, '$1') : reply;
