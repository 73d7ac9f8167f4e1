/** What is said with data nodes that follow each other, or nobody. */
import { type Conversation, dialogue, follow, info, inSync, pair, pick, readonlyError, trio } from './conversation.ts';
import { ended, type Heard, password } from './stage.ts';

export const replicationConversations: readonly Conversation[] = [
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
        // It acknowledges once a second, and on a busy machine later.
        seen: above.slave0?.replace(/offset=\d+,lag=\d+/, 'offset=1,lag=0'),
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
      seen: 'ip=n2,port=6379,state=online,offset=1,lag=0',
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
      // If the old primary sends a ping after the promotion, only its own replication log has it, and its replicas have to copy all data.
      await stage.ask('n1', 'CONFIG', 'SET', 'repl-ping-replica-period', '3600');
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
    story: 'a replica is in sync before its file is: killed then, it finds what it had before the copy',
    async play(stage) {
      // Microseconds a key, for the rewrite of the file after the copy.
      await Promise.all([stage.start('n1'), stage.start('n2', ['rdb-key-save-delay 10000000'])]);
      await stage.ask('n1', 'MSET', 'a', '1', 'b', '1');
      await follow(stage, 'n2', 'n1');
      const before = [
        await stage.ask('n2', 'GET', 'a'),
        (await info(stage, 'n2', 'persistence')).aof_rewrite_in_progress,
      ];
      await stage.kill('n2');
      await stage.start('n2', ['replicaof 127.0.0.1 1']);
      await stage.until('it has loaded', async () => (await stage.ask('n2', 'PING')) === 'PONG');
      return [before, await stage.ask('n2', 'DBSIZE')];
    },
    yields: [['1', '1'], 0],
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
    story: 'SIGTERM ends it in order',
    async play(stage) {
      await pair(stage);
      await stage.ask('n1', 'SET', 'a', '1');
      const code = await stage.terminate('n1');
      return [code, await stage.ask('n2', 'GET', 'a')];
    },
    yields: [0, '1'],
  },
];
