/** What is said with sentinels, and what they do by themselves. */
import { type Conversation, follow, info, inSync, pairsOf, pick } from './conversation.ts';
import { type Heard, idOf, password, type Stage, watched } from './stage.ts';

/**
 * Much longer than the pings are apart, which is a second: with little more, a server that the machine keeps waiting is
 * found down.
 */
const downAfter = '3000';

async function watch(stage: Stage, sentinel: string, primary: string, quorum = 1): Promise<Heard> {
  await stage.ask(sentinel, 'SENTINEL', 'MONITOR', watched, stage.address(primary), '6379', String(quorum));
  const settings = ['down-after-milliseconds', downAfter, 'failover-timeout', '5000', 'parallel-syncs', '2'];
  return stage.ask(sentinel, 'SENTINEL', 'SET', watched, 'auth-pass', password, ...settings);
}

async function master(stage: Stage, sentinel: string): Promise<Record<string, string>> {
  return pairsOf(await stage.ask(sentinel, 'SENTINEL', 'MASTER', watched));
}

async function rows(stage: Stage, sentinel: string, what: 'REPLICAS' | 'SENTINELS'): Promise<Record<string, string>[]> {
  const reply = await stage.ask(sentinel, 'SENTINEL', what, watched);
  return Array.isArray(reply) ? reply.map(pairsOf).sort((a, b) => ((a.ip ?? '') < (b.ip ?? '') ? -1 : 1)) : [];
}

async function knows(stage: Stage, sentinel: string, replicas: number, peers: number): Promise<void> {
  await stage.until(`${sentinel} knows ${replicas} replicas and ${peers} peers`, async () => {
    const fields = await master(stage, sentinel);
    const others = [...(await rows(stage, sentinel, 'REPLICAS')), ...(await rows(stage, sentinel, 'SENTINELS'))];
    const settled = others.every(
      (row) =>
        /s_down/.test(row.flags ?? '') ||
        (row['master-link-status'] !== 'err' && !/disconnected/.test(row.flags ?? '')),
    );
    return fields['num-slaves'] === String(replicas) && fields['num-other-sentinels'] === String(peers) && settled;
  });
}

/** `n1` with replicas, and sentinels that know everybody. `priority` by data node. */
async function cluster(
  stage: Stage,
  size: { readonly data: number; readonly sentinels: number; readonly priority?: Readonly<Record<string, number>> },
): Promise<{ readonly data: string[]; readonly sentinels: string[] }> {
  const data = Array.from({ length: size.data }, (_, i) => `n${i + 1}`);
  const sentinels = Array.from({ length: size.sentinels }, (_, i) => `s${i + 1}`);
  await Promise.all(
    [...data, ...sentinels].map((member) => {
      const priority = size.priority?.[member];
      return stage.start(member, priority === undefined ? [] : [`replica-priority ${priority}`]);
    }),
  );
  for (const replica of data.slice(1)) await follow(stage, replica, 'n1');
  for (const sentinel of sentinels) await watch(stage, sentinel, 'n1', Math.floor(size.sentinels / 2) + 1);
  for (const sentinel of sentinels) await knows(stage, sentinel, size.data - 1, size.sentinels - 1);
  return { data, sentinels };
}

async function primariesOf(stage: Stage, members: readonly string[]): Promise<string[]> {
  const roles = await Promise.all(members.map(async (member) => (await info(stage, member)).role));
  return members.filter((_, i) => roles[i] === 'master');
}

async function untilAllWatch(stage: Stage, sentinels: readonly string[], unlike: string): Promise<string> {
  let named = '';
  await stage.until('all sentinels watch another primary', async () => {
    const all = await Promise.all(sentinels.map((sentinel) => master(stage, sentinel)));
    named = all[0]?.ip ?? '';
    return named !== unlike && all.every((row) => row.ip === named && row.flags === 'master');
  });
  return named;
}

const unknownMaster = '-ERR No such master with that name';

export const sentinelConversations: readonly Conversation[] = [
  {
    story: 'INFO is asked for as often as SENTINEL DEBUG says: a new replica is known that much sooner',
    async play(stage) {
      await Promise.all(['n1', 's1'].map((member) => stage.start(member)));
      const period = await stage.ask('s1', 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '500');
      await watch(stage, 's1', 'n1');
      await knows(stage, 's1', 0, 0);
      await stage.start('n2');
      await follow(stage, 'n2', 'n1');
      await knows(stage, 's1', 1, 0);
      return { period };
    },
    yields: { period: 'OK' },
  },
  {
    story: 'FAILOVER on request: the steps, the clients, and the old primary becomes a replica',
    async play(stage) {
      await cluster(stage, { data: 3, sentinels: 1, priority: { n3: 50 } });
      const listener = await stage.open('s1');
      const events = ['+new-epoch', '+elected-leader', '+selected-slave', '+failover-state-wait-promotion'];
      const more = ['+promoted-slave', '+failover-state-reconf-slaves', '+failover-end', '+switch-master', '+slave'];
      await listener.say('SUBSCRIBE', ...events, ...more);
      const client = await stage.open('n3');
      const admin = await stage.open('s1');
      // At once: where the machine is busy, the failover could be over before the next question.
      const [asked, again, row] = await Promise.all([
        admin.say('SENTINEL', 'FAILOVER', watched),
        admin.say('SENTINEL', 'FAILOVER', watched),
        admin.say('SENTINEL', 'MASTER', watched),
      ]);
      admin.close();
      // Valkey 9 may call it down while it hands over.
      const flags = pairsOf(row).flags?.replace('s_down,', '');
      await untilAllWatch(stage, ['s1'], 'n1');
      await inSync(stage, 'n1', 'n3');
      await inSync(stage, 'n2', 'n3');
      const heard = listener.pushed
        .map((message) => (Array.isArray(message) && message[0] === 'message' ? message.slice(1).join(' ') : ''))
        .filter((text) => text !== '');
      return {
        replies: [asked, again, flags],
        heard,
        client: await client.say('PING'),
        epoch: pick(await master(stage, 's1'), 'ip', 'config-epoch', 'num-slaves'),
        primaries: await primariesOf(stage, ['n1', 'n2', 'n3']),
      };
    },
    yields: {
      replies: ['OK', '-INPROG Failover already in progress', 'master,failover_in_progress,force_failover'],
      heard: [
        '+new-epoch 1',
        '+elected-leader master db n1 6379',
        '+selected-slave slave n3:6379 n3 6379 @ db n1 6379',
        '+failover-state-wait-promotion slave n3:6379 n3 6379 @ db n1 6379',
        '+promoted-slave slave n3:6379 n3 6379 @ db n1 6379',
        '+failover-state-reconf-slaves master db n1 6379',
        '+failover-end master db n1 6379',
        '+switch-master db n1 6379 n3 6379',
        '+slave slave n2:6379 n2 6379 @ db n3 6379',
        '+slave slave n1:6379 n1 6379 @ db n3 6379',
      ],
      client: 'ended',
      epoch: ['n3', '1', '2'],
      primaries: ['n3'],
    },
  },
  {
    story: 'a sentinel that watches nobody',
    async play(stage) {
      await stage.start('s1');
      const replies: Heard[] = [];
      for (const verb of [
        'MASTER',
        'REPLICAS',
        'SENTINELS',
        'FAILOVER',
        'CKQUORUM',
        'REMOVE',
        'GET-MASTER-ADDR-BY-NAME',
        'RESET',
      ]) {
        replies.push(await stage.ask('s1', 'SENTINEL', verb, watched));
      }
      replies.push(await stage.ask('s1', 'SENTINEL', 'SET', watched, 'quorum', '2'));
      const stranger = await stage.open('s1', false);
      replies.push(await stranger.say('SENTINEL', 'MASTERS'), await stranger.say('PING'));
      return [
        ...replies,
        await stage.ask('s1', 'PING'),
        await stage.ask('s1', 'SENTINEL', 'MYID'),
        await stage.ask('s1', 'SENTINEL', 'CONFIG', 'GET', 'announce-ip'),
      ];
    },
    yields: [
      ...Array(6).fill(unknownMaster),
      ...[null, 0, unknownMaster],
      ...Array(2).fill('-NOAUTH Authentication required.'),
      ...['PONG', idOf('s1'), ['announce-ip', 's1']],
    ],
  },
  {
    story: 'what MONITOR and SET take, and what they refuse',
    async play(stage) {
      await stage.start('s1');
      const monitor = async (...args: string[]): Promise<Heard> => stage.ask('s1', 'SENTINEL', 'MONITOR', ...args);
      const set = async (...args: string[]): Promise<Heard> => stage.ask('s1', 'SENTINEL', 'SET', watched, ...args);
      const n1 = stage.address('n1');
      return [
        await monitor(watched, n1, '6379', '0'),
        await monitor(watched, n1, 'x', '2'),
        await monitor(watched, n1, '6379', 'x'),
        await monitor(watched, n1, '6379', '2'),
        await monitor(watched, n1, '6379', '2'),
        await set('down-after-milliseconds', '300', 'quorum', '3'),
        await set('quorum', '0'),
        await set('failover-timeout', 'x'),
        await set('nosuch', '1'),
        await set('parallel-syncs'),
        pick(await master(stage, 's1'), 'quorum', 'down-after-milliseconds', 'failover-timeout', 'parallel-syncs'),
        await stage.ask('s1', 'SENTINEL', 'REMOVE', watched),
        await stage.ask('s1', 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', watched),
      ];
    },
    yields: [
      '-ERR Quorum must be 1 or greater.',
      '-ERR Invalid port',
      '-ERR Invalid quorum',
      'OK',
      '-ERR Duplicate master name.',
      'OK',
      "-ERR Invalid argument '0' for SENTINEL SET 'quorum'",
      "-ERR Invalid argument 'x' for SENTINEL SET 'failover-timeout'",
      "-ERR Unknown option or number of arguments for SENTINEL SET 'nosuch'",
      "-ERR wrong number of arguments for 'sentinel|set' command",
      ['3', '300', '180000', '1'],
      'OK',
      null,
    ],
  },
  {
    story: 'two sentinels find the replicas and each other',
    async play(stage) {
      await cluster(stage, { data: 3, sentinels: 2, priority: { n3: 7 } });
      let fields: Record<string, string> = {};
      let replicas: Record<string, string>[] = [];
      let peer: Record<string, string> = {};
      // One that the machine keeps waiting is found down for a moment.
      await stage.until('all are up, and have answered of late', async () => {
        fields = await master(stage, 's1');
        replicas = await rows(stage, 's1', 'REPLICAS');
        [peer = {}] = await rows(stage, 's1', 'SENTINELS');
        const isUp = [fields, ...replicas, peer].every((row) => !/down|disconnected/.test(row.flags ?? ''));
        return isUp && Number(fields['last-ping-reply']) < 2000;
      });
      const runId = (await info(stage, 'n1', 'server')).run_id;
      return {
        names: Object.keys(fields),
        fields: pick(
          fields,
          'name',
          'ip',
          'port',
          'flags',
          'config-epoch',
          'num-slaves',
          'num-other-sentinels',
          'quorum',
        ),
        isKnown: fields.runid === runId,
        answered: Number(fields['last-ping-reply']) < 2000,
        address: await stage.ask('s1', 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', watched),
        replicaNames: Object.keys(replicas[0] ?? {}),
        replicas: replicas.map((row) =>
          pick(row, 'name', 'ip', 'flags', 'master-link-status', 'master-host', 'master-port', 'slave-priority'),
        ),
        peerNames: Object.keys(peer),
        peer: pick(peer, 'name', 'ip', 'port', 'runid', 'flags'),
        quorum: await stage.ask('s1', 'SENTINEL', 'CKQUORUM', watched),
      };
    },
    yields: {
      names: [
        ...['name', 'ip', 'port', 'runid', 'flags', 'link-pending-commands', 'link-refcount', 'last-ping-sent'],
        ...['last-ok-ping-reply', 'last-ping-reply', 'down-after-milliseconds', 'info-refresh', 'role-reported'],
        ...['role-reported-time', 'config-epoch', 'num-slaves', 'num-other-sentinels', 'quorum', 'failover-timeout'],
        'parallel-syncs',
      ],
      fields: [watched, 'n1', '6379', 'master', '0', '2', '1', '2'],
      isKnown: true,
      answered: true,
      address: ['n1', '6379'],
      replicaNames: [
        ...['name', 'ip', 'port', 'runid', 'flags', 'link-pending-commands', 'link-refcount', 'last-ping-sent'],
        ...['last-ok-ping-reply', 'last-ping-reply', 'down-after-milliseconds', 'info-refresh', 'role-reported'],
        ...['role-reported-time', 'master-link-down-time', 'master-link-status', 'master-host', 'master-port'],
        ...['slave-priority', 'slave-repl-offset', 'replica-announced'],
      ],
      replicas: [
        ['n2:6379', 'n2', 'slave', 'ok', 'n1', '6379', '100'],
        ['n3:6379', 'n3', 'slave', 'ok', 'n1', '6379', '7'],
      ],
      peerNames: [
        ...['name', 'ip', 'port', 'runid', 'flags', 'link-pending-commands', 'link-refcount', 'last-ping-sent'],
        ...['last-ok-ping-reply', 'last-ping-reply', 'down-after-milliseconds', 'last-hello-message', 'voted-leader'],
        'voted-leader-epoch',
      ],
      peer: [idOf('s2'), 's2', '26379', idOf('s2'), 'sentinel'],
      quorum: 'OK 2 usable Sentinels. Quorum and failover authorization can be reached',
    },
  },
  {
    story: 'a sentinel without the password knows nobody, and calls the primary down',
    async play(stage) {
      await Promise.all([stage.start('n1'), stage.start('s1')]);
      await stage.ask('s1', 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '1');
      await stage.ask('s1', 'SENTINEL', 'SET', watched, 'down-after-milliseconds', downAfter);
      // It answers each ping, if only by refusing it.
      let shutOut: Readonly<Record<string, string>> = {};
      await stage.until('it is down, and answers', async () => {
        shutOut = await master(stage, 's1');
        return shutOut.flags?.startsWith('s_down,o_down') === true && Number(shutOut['last-ping-reply']) < 2000;
      });
      await stage.ask('s1', 'SENTINEL', 'SET', watched, 'auth-pass', password);
      await stage.until('it is up', async () => {
        const fields = await master(stage, 's1');
        return !/down/.test(fields.flags ?? '') && fields.runid !== '';
      });
      return shutOut.runid;
    },
    yields: '',
  },
  {
    story: 'a reset forgets replicas and peers; they are found again',
    async play(stage) {
      await cluster(stage, { data: 2, sentinels: 2 });
      await stage.kill('n2');
      await stage.until('n2 is missed', async () =>
        /s_down/.test((await rows(stage, 's1', 'REPLICAS'))[0]?.flags ?? ''),
      );
      const count = await stage.ask('s1', 'SENTINEL', 'RESET', watched);
      const after = pick(await master(stage, 's1'), 'ip', 'config-epoch');
      await knows(stage, 's1', 0, 1);
      await stage.start('n2', [`replicaof ${stage.address('n1')} 6379`]);
      return [count, after, pick(await master(stage, 's2'), 'num-slaves')];
    },
    yields: [1, ['n1', '0'], ['1']],
  },
  {
    story: 'nobody to promote: FAILOVER is refused',
    async play(stage) {
      await cluster(stage, { data: 2, sentinels: 1, priority: { n2: 0 } });
      await stage.until('s1 has heard of the priority', async () => {
        return (await rows(stage, 's1', 'REPLICAS'))[0]?.['slave-priority'] === '0';
      });
      return stage.ask('s1', 'SENTINEL', 'FAILOVER', watched);
    },
    yields: '-NOGOODSLAVE No suitable replica to promote',
  },
  {
    story: 'the primary is killed: the one with the lowest priority wins; it is killed, too: the last one takes over',
    async play(stage) {
      const { sentinels } = await cluster(stage, { data: 3, sentinels: 3, priority: { n3: 10 } });
      await stage.kill('n1');
      const named = await untilAllWatch(stage, sentinels, 'n1');
      await inSync(stage, 'n2', 'n3');
      const epochs = await Promise.all(sentinels.map(async (s) => Number((await master(stage, s))['config-epoch'])));
      const first = [named, new Set(epochs).size, await primariesOf(stage, ['n2', 'n3'])];
      await knows(stage, 's1', 2, 2);
      await stage.kill('n3');
      return [...first, await untilAllWatch(stage, sentinels, 'n3')];
    },
    yields: ['n3', 1, ['n3'], 'n2'],
  },
  {
    story: 'the primary is killed: of equals, the one with more data wins; a priority of 0 never does',
    async play(stage) {
      const { sentinels } = await cluster(stage, { data: 4, sentinels: 3, priority: { n4: 0 } });
      // Who is elected has told within five seconds what it has. One without its link is asked each second in any case.
      for (const sentinel of sentinels) await stage.ask(sentinel, 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '500');
      await stage.ask('n2', 'CONFIG', 'SET', 'masterauth', 'wrong');
      await stage.ask('n2', 'REPLICAOF', 'NO', 'ONE');
      await stage.ask('n2', 'REPLICAOF', stage.address('n1'), '6379');
      for (let i = 0; i < 20; i++) await stage.ask('n1', 'SET', `key${i}`, 'x'.repeat(100));
      await inSync(stage, 'n3', 'n1');
      const offsetOf = (known: readonly Record<string, string>[], member: string): number =>
        Number(known.find(({ ip }) => ip === member)?.['slave-repl-offset']);
      await stage.until('the sentinels have heard who has more', async () => {
        const all = await Promise.all(sentinels.map((sentinel) => rows(stage, sentinel, 'REPLICAS')));
        return all.every((known) => offsetOf(known, 'n3') > offsetOf(known, 'n2'));
      });
      await stage.kill('n1');
      return untilAllWatch(stage, sentinels, 'n1');
    },
    yields: 'n3',
  },
  {
    story: 'one sentinel of three is left: it sees that the primary is down, and nothing happens',
    async play(stage) {
      await cluster(stage, { data: 2, sentinels: 3 });
      await Promise.all([stage.kill('s2'), stage.kill('s3'), stage.kill('n1')]);
      await stage.until('s1 misses all of them', async () => {
        const peers = await rows(stage, 's1', 'SENTINELS');
        return (
          (await master(stage, 's1')).flags?.startsWith('s_down') === true &&
          peers.every((row) => /s_down/.test(row.flags ?? ''))
        );
      });
      return [
        (await master(stage, 's1')).flags?.includes('o_down'),
        await stage.ask('s1', 'SENTINEL', 'CKQUORUM', watched),
        await primariesOf(stage, ['n2']),
      ];
    },
    yields: [
      false,
      '-NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the specified quorum for this master. Not enough available Sentinels to reach the majority and authorize a failover',
      [],
    ],
  },
  {
    story: 'how long ago the primary answered: told before it is found down, and by one that was reset as if it had',
    async play(stage) {
      await cluster(stage, { data: 1, sentinels: 1 });
      await stage.ask('s1', 'SENTINEL', 'SET', watched, 'down-after-milliseconds', '20000');
      const answeredMs = async (): Promise<number> => Number((await master(stage, 's1'))['last-ok-ping-reply']);
      await stage.until('it has answered', async () => (await answeredMs()) < 500);
      const since = stage.now();
      let most = 0;
      await stage.until('two pings have passed', async () => {
        most = Math.max(most, await answeredMs());
        return stage.now() - since > 2500;
      });
      await stage.kill('n1');
      await stage.until('it misses an answer', async () => (await answeredMs()) > 1500);
      const missed = await master(stage, 's1');
      await stage.ask('s1', 'SENTINEL', 'RESET', watched);
      const reset = await master(stage, 's1');
      return [
        most > 500 && most < 10_000,
        [/s_down/.test(missed.flags ?? ''), missed.runid !== ''],
        [/s_down/.test(reset.flags ?? ''), reset.runid, Number(reset['last-ok-ping-reply']) < 1500],
      ];
    },
    yields: [true, [false, true], [false, '', true]],
  },
  {
    story: 'a sentinel that is restarted remembers everybody',
    async play(stage) {
      await cluster(stage, { data: 2, sentinels: 2 });
      await stage.kill('s1');
      await stage.kill('s2');
      await stage.start('s1');
      const fields = await master(stage, 's1');
      const peers = await rows(stage, 's1', 'SENTINELS');
      return [
        pick(fields, 'ip', 'num-slaves', 'num-other-sentinels', 'quorum', 'down-after-milliseconds'),
        peers[0]?.ip,
      ];
    },
    yields: [['n1', '1', '1', '2', downAfter], 's2'],
  },
];
