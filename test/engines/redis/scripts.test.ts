import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scripts } from '../../../src/engines/redis/resources/scripts.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { type PodStory, podIP, runPodScript } from '../../support/pod-scripts.ts';
import { installedVersion, startRedisServer } from '../../support/redis-server.ts';

/** What a sentinel says about the primary, as redis-cli prints it. */
function view(address: string, epoch = 1, replicas = 2, more: Readonly<Record<string, string | number>> = {}): string {
  const fields = { name: 'db', ip: address, port: 6379, runid: 'c0ffee', flags: 'master', ...more };
  const figures = { 'last-ok-ping-reply': 400, 'num-slaves': replicas, 'config-epoch': epoch, ...more };
  return Object.entries({ ...fields, ...figures })
    .flat()
    .join('\n');
}

/** The shell pattern of a question to the sentinel. */
const master = (sentinel: string): string => `"-h ${sentinel} -p 26379 sentinel master db"`;
const replicas = (sentinel: string): string => `"-h ${sentinel} -p 26379 sentinel replicas db"`;
const failover = '*"sentinel failover db"';
type Answers = NonNullable<PodStory['cli']>;
/** The first pattern that fits counts. */
const first = (answers: Answers, others: Answers): Answers => ({
  ...answers,
  ...others,
  ...answers,
});
/** What a sentinel says about the replicas, as redis-cli prints it. */
const listed = (...addresses: readonly string[]): string =>
  addresses.flatMap((ip) => ['name', `${ip}:6379`, 'ip', ip, 'port', '6379', 'runid', '', 'flags', 'slave']).join('\n');

describe('every script', () => {
  it.each(Object.entries(scripts))('%s is read by a POSIX shell', (_, text) => {
    const { status, stderr } = spawnSync('/bin/sh', ['-n'], { input: text, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('holds nothing that is filled in', () => {
    for (const text of Object.values(scripts)) expect(text).not.toMatch(/undefined|\[object|\$\{[a-z]/);
  });
});

describe('a data node that starts', { timeout: 30_000 }, () => {
  const others = { [master('s0')]: view('10.0.0.7') };
  const itself = { [master('s0')]: view(podIP), [failover]: 'OK' };
  const refused = { ...itself, [failover]: 'NOGOODSLAVE No suitable replica to promote' };
  const following = (line: string | undefined): string => line?.replace('replicaof ', '') ?? 'itself';

  it.each<readonly [story: string, pod: PodStory, follows: string, priority: string]>([
    [
      'R4: follows whom the sentinels name, and may not be elected before it holds what that one has',
      { cli: others, mark: podIP },
      ...(['10.0.0.7 6379', '0'] as const),
    ],
    [
      'R4: nor when it starts again beside one that may be back before long',
      {
        cli: { [master('s0')]: view('10.0.0.7', 1, 2, { flags: 's_down,master' }) },
        mark: podIP,
        run: { behind: '99999999999' },
      },
      ...(['127.0.0.1 1', '0'] as const),
    ],
    [
      'that becomes primary holds what there is',
      { cli: { ...refused, [master('s0')]: view(podIP, 1, 0) }, mark: podIP, run: { behind: '99999999999' } },
      ...(['itself', '100'] as const),
    ],
    [
      'that the sentinels name at its address of before follows nobody, and is behind nobody',
      { cli: others, mark: '10.0.0.7' },
      ...(['127.0.0.1 1', '100'] as const),
    ],
    [
      'the same where another node is a replica at that address by now',
      { cli: { ...others, '"-h 10.0.0.7 -p 6379 role"': 'slave\n10.0.0.8' }, mark: '10.0.0.7' },
      ...(['127.0.0.1 1', '100'] as const),
    ],
    [
      'follows whom the sentinels name at its address of before, where another is primary by now',
      { cli: { ...others, '"-h 10.0.0.7 -p 6379 role"': 'master\n70' }, mark: '10.0.0.7' },
      ...(['10.0.0.7 6379', '0'] as const),
    ],
    ['R1: on a blank volume, too, and may not be elected', { cli: others }, '10.0.0.7 6379', '0'],
    [
      'follows nobody while the sentinels may elect another',
      { cli: { [master('s0')]: view('10.0.0.7', 1, 2, { flags: 's_down,master' }) }, mark: podIP },
      '127.0.0.1 1',
      '100',
    ],
    ['on a blank volume waits for nobody', {}, '127.0.0.1 1', '0'],
    ['with data and no sentinel that knows anything follows nobody', { mark: podIP }, '127.0.0.1 1', '100'],
    ['alone is primary', { config: { sentinels: '' }, mark: podIP }, 'itself', '100'],
    [
      'alone, on a blank volume, waits for the operator: it may be one that was lost',
      { config: { sentinels: '' } },
      '127.0.0.1 1',
      '0',
    ],
    [
      'alone, where nothing is kept, begins by itself',
      { config: { sentinels: '', ephemeral: 'yes\n' } },
      'itself',
      '0',
    ],
    [
      'R1: that the sentinels still call primary becomes it again only where there is no replica',
      { cli: { ...refused, [master('s0')]: view(podIP, 1, 0) }, mark: podIP },
      'itself',
      '100',
    ],
    [
      'R1: at an address that was that of another primary never becomes it: that one may have more',
      { cli: { ...refused, [master('s0')]: view(podIP, 1, 0) }, mark: '10.0.0.2' },
      '127.0.0.1 1',
      '100',
    ],
  ])('%s', async (_, pod, follows, priority) => {
    const { conf, started } = await runPodScript('start-data.sh', pod);
    expect(started).toBe('run/redis.conf');
    expect(following(conf.find((line) => line.startsWith('replicaof')))).toBe(follows);
    expect(conf).toContain(`replica-priority ${priority}`);
    expect(conf.slice(0, 8)).toEqual([
      'include config/redis.conf',
      'dir /data',
      'appendonly yes',
      'appenddirname appendonlydir',
      'appendfilename appendonly.aof',
      'requirepass "pw"',
      'masterauth "pw"',
      `replica-announce-ip ${podIP}`,
    ]);
  });

  it('R1: that the sentinels still call primary asks once where they know no replica', async () => {
    const cli = { ...refused, [master('s0')]: view(podIP, 1, 0) };
    const { asked } = await runPodScript('start-data.sh', { cli, mark: podIP });
    expect(asked.filter((line) => line.endsWith('sentinel failover db')).length).toBe(1);
  });

  it('R1: that the sentinels still call primary asks for a failover for long before it gives up', async () => {
    const { asked, conf } = await runPodScript('start-data.sh', { cli: refused, mark: podIP });
    expect(asked.filter((line) => line === '-h s0 -p 26379 sentinel failover db').length).toBe(50);
    expect(conf.some((line) => line.startsWith('replicaof'))).toBe(false);
  });

  it.each([
    ['no replica', 0, 1],
    ['none that it could elect', 2, 50],
  ])(
    'R1: that the sentinels still call primary, on a blank volume, follows nobody where they know %s, and can be asked',
    async (_, replicas, failovers) => {
      const cli = { ...refused, [master('s0')]: view(podIP, 1, replicas) };
      const { asked, conf } = await runPodScript('start-data.sh', { cli });
      expect(asked.filter((line) => line.endsWith('sentinel failover db')).length).toBe(failovers);
      expect(following(conf.find((line) => line.startsWith('replicaof')))).toBe('127.0.0.1 1');
      expect(conf).toContain('replica-priority 0');
    },
  );

  it('does not start without a password: it would let everybody in', async () => {
    for (const identity of [undefined, 'own']) {
      const told = identity === undefined ? {} : { identity };
      const { code, started } = await runPodScript('start-data.sh', { mark: podIP, password: '', ...told });
      expect({ code, started }).toEqual({ code: 1, started: undefined });
    }
    const { started } = await runPodScript('start-data.sh', { mark: podIP, password: '\nsecond' });
    expect(started).toBeUndefined();
  });

  it('that was started without one by an earlier version starts again', async () => {
    const { started } = await runPodScript('start-data.sh', { mark: podIP, password: '', run: { password: '\n' } });
    expect(started).toBe('run/redis.conf');
  });

  it('tells its password to no command line', async () => {
    const { asked, started } = await runPodScript('start-data.sh', {
      cli: others,
      password: 'hunter2',
      mark: podIP,
    });
    expect([...asked, started].join('\n')).not.toContain('hunter2');
  });

  it.skipIf(installedVersion === undefined)('has the password that the Secret says, however hostile', async () => {
    await fc.assert(
      fc.asyncProperty(
        hostileText.filter((text) => text !== ''),
        async (password) => {
          const { conf } = await runPodScript('start-data.sh', { password });
          const server = await startRedisServer(
            conf.filter((line) => /^(requirepass|masterauth) /.test(line)).join('\n'),
          );
          try {
            expect(await server.command('AUTH', password)).toBe('OK');
            expect(await server.settings('masterauth')).toEqual({ masterauth: password });
          } finally {
            await server.stop();
          }
        },
      ),
      { numRuns: 8 },
    );
  });
});

const replication = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map((pair) => pair.join(':'))
    .join('\r\n');

describe('a sentinel knows a node', () => {
  const ask = async (answer: string): Promise<boolean> =>
    (await runPodScript({ inline: 'is_known_to s1' }, { cli: { [replicas('s1')]: answer } })).code === 0;

  it.each<readonly [story: string, answer: string, knows: boolean]>([
    ['among others', listed('10.0.0.2', podIP, '10.0.0.3'), true],
    ['at the end of lines as on a terminal', listed('10.0.0.2', podIP).replaceAll('\n', '\r\n'), true],
    ['not where the list is of others', listed('10.0.0.2', '10.0.0.11'), false],
    ['not where the list is empty', '', false],
    ['not where it cannot reach it yet', listed('10.0.0.2', podIP).replaceAll('slave', 'slave,disconnected'), false],
    ['not where it takes it for down', listed(podIP).replace('slave', 's_down,slave'), false],
    ['whatever happens to others', `${listed(podIP)}\n${listed('10.0.0.2').replace('slave', 's_down,slave')}`, true],
    ['not where it knows no such cluster', 'ERR No such master with that name', false],
  ])('%s', async (_, answer, knows) => {
    expect(await ask(answer)).toBe(knows);
  });
});

describe('a data node is admitted', () => {
  const local = (fields: Readonly<Record<string, string | number>>, more: Answers = {}): PodStory => ({
    cli: first(more, {
      '"-p 6379 info"': replication({ ...written, ...fields }),
      '"-p 6379 role"': 'slave\n10.0.0.9',
      [master('s0')]: view('10.0.0.9'),
      [replicas('s0')]: listed(podIP),
      '"-p 6379 "*': 'OK',
    }),
  });
  const written = { aof_enabled: 1, aof_rewrite_in_progress: 0, aof_rewrite_scheduled: 0 };
  const synced = { role: 'slave', master_link_status: 'up', master_host: '10.0.0.9' };
  const dead = { role: 'slave', master_link_status: 'down', master_host: '10.0.0.7', master_sync_in_progress: 0 };
  const electable = 'config set replica-priority 100';
  const inelectable = 'config set replica-priority 0';
  const nobody = 'replicaof 127.0.0.1 1';
  const silent = { [master('s0')]: view('10.0.0.9', 1, 2, { 'last-ok-ping-reply': 2000 }) };

  it.each<readonly [story: string, pod: PodStory, code: number, told: readonly string[], hasData: boolean]>([
    ['as primary', local({ role: 'master' }), 0, [electable], true],
    ['in sync', local(synced), 0, [electable], true],
    [
      'in sync with a primary whose address is of version 6',
      local({ ...synced, master_host: 'fd00::9' }, { [master('s0')]: view('fd00::9') }),
      ...([0, [electable], true] as const),
    ],
    ['not before its copy is on the disk', local({ ...synced, aof_rewrite_in_progress: 1 }), 1, [], false],
    ['not before its copy begins to be written', local({ ...synced, aof_rewrite_scheduled: 1 }), 1, [], false],
    [
      'again, whatever it writes: its disk holds the data since before',
      { ...local({ ...synced, aof_rewrite_in_progress: 1 }), mark: podIP, traces: ['earlier'] },
      ...([0, [electable], true] as const),
    ],
    [
      'not before a later copy is on the disk',
      { ...local({ ...synced, aof_rewrite_in_progress: 1 }), mark: podIP, traces: ['later', 'unfinished'] },
      ...([1, [], false] as const),
    ],
    ['once a later copy is', { ...local(synced), mark: podIP, traces: ['later'] }, 0, [electable], true],
    [
      'not without an append-only file',
      { ...local({ ...synced, aof_enabled: 0 }), mark: podIP },
      ...([1, ['config set appendonly yes'], false] as const),
    ],
    [
      'not where it could not load the copy',
      { ...local({ ...dead, master_host: '10.0.0.9', aof_enabled: 0 }), mark: podIP, traces: ['later'] },
      ...([1, ['config set replica-priority 0'], false] as const),
    ],
    ['not before the sentinel knows it', local(synced, { [replicas('s0')]: '' }), 1, [electable], true],
    [
      'not before every sentinel that watches knows it',
      local(synced, { [master('s1')]: view('10.0.0.9'), [replicas('s1')]: listed('10.0.0.2') }),
      ...([1, [electable], true] as const),
    ],
    [
      'though a sentinel that watches nobody does not know it',
      local(synced, { '"-h s1 "*': 'ERR No such master with that name' }),
      ...([0, [electable], true] as const),
    ],
    ['not with one that may be replaced, and leaves it', local(synced, silent), 1, [electable, nobody], true],
    [
      'nor while its copy is written',
      local({ ...synced, aof_rewrite_in_progress: 1 }, silent),
      ...([1, [nobody], false] as const),
    ],
    [
      'not with one that was replaced, and follows the other',
      local({ ...synced, master_host: '10.0.0.7' }),
      ...([1, [electable, 'replicaof 10.0.0.9 6379'], true] as const),
    ],
    [
      'not where no sentinel answers, and follows nobody',
      local(synced, { '"-h "*': '' }),
      ...([1, [electable, nobody], true] as const),
    ],
    [
      'but leaves nobody once it has been promoted',
      local(synced, { ...silent, '"-p 6379 role"': 'master\n70' }),
      ...([1, [electable], true] as const),
    ],
    [
      'nor while the sentinels name it',
      local(synced, { [master('s0')]: view(podIP) }),
      ...([1, [electable], true] as const),
    ],
    [
      'R4: not while it copies, nor is it elected',
      local({ ...dead, master_sync_in_progress: 1 }),
      1,
      [inelectable],
      false,
    ],
    [
      'R4: not while it waits for a copy of one that lives, nor is it elected',
      { ...local({ ...dead, master_host: '10.0.0.9' }), mark: podIP },
      ...([1, [inelectable], true] as const),
    ],
    [
      'not with one that is gone, which may be back before long',
      { ...local(dead, silent), mark: podIP, run: { behind: '99999999999' } },
      ...([1, [], true] as const),
    ],
    [
      'not with one that was gone for long, but it may be elected',
      { ...local(dead, silent), mark: podIP, run: { behind: '-9999999' } },
      ...([1, [electable], true] as const),
    ],
    [
      'not with one that is gone, from now on where it was killed while it wrote down since when',
      { ...local(dead, silent), mark: podIP, run: { behind: '' } },
      ...([1, [inelectable], true] as const),
    ],
    [
      'not with a dead primary, whom to follow it asks then, too',
      { ...local(dead), mark: podIP, run: { behind: '' } },
      ...([1, [inelectable, inelectable, 'replicaof 10.0.0.9 6379'], true] as const),
    ],
    [
      'nor may it then, where its disk does not hold what it had',
      { ...local(dead, silent), run: { behind: '-9999999' } },
      ...([1, [], false] as const),
    ],
    ['not with a dead primary: it asks whom to follow', local(dead), 1, ['replicaof 10.0.0.9 6379'], false],
    [
      'R4: nor is it elected before it holds what the other one has',
      { ...local(dead), mark: podIP },
      ...([1, [inelectable, 'replicaof 10.0.0.9 6379'], true] as const),
    ],
    ['not with one that the sentinels may replace, nor does it follow that', local(dead, silent), 1, [], false],
    ['not while the sentinels name the one it follows', local({ ...dead, master_host: '10.0.0.9' }), 1, [], false],
    ['not by itself, though the sentinels name it', local(dead, { [master('s0')]: view(podIP) }), 1, [], false],
    ['not while it does not answer', {}, 1, [], false],
  ])('%s', async (_, pod, code, told, hasData) => {
    const end = await runPodScript('admit.sh', pod);
    expect(end.code).toBe(code);
    const changes = end.asked.filter((line) => /^-p 6379 (config set|replicaof)/.test(line));
    expect(changes.filter((line) => !line.includes('cluster-announce-hostname'))).toEqual(
      told.map((line) => `-p 6379 ${line}`),
    );
    expect(end.mark).toBe(hasData ? podIP : undefined);
  });
});

describe('a sentinel that starts', () => {
  const named = { [master('s0')]: view('10.0.0.7') };

  it('learns the primary from its peers', async () => {
    const open = await runPodScript('start-sentinel.sh', { password: '' });
    expect([open.code, open.started]).toEqual([1, undefined]);
    const { conf, started } = await runPodScript('start-sentinel.sh', {
      cli: named,
      config: { 'sentinel.conf': 'sentinel down-after-milliseconds db 3000\n' },
    });
    expect(started).toBe('run/sentinel.conf --sentinel');
    expect(conf.filter((line) => !line.includes('myid'))).toEqual([
      'port 26379',
      'dir /tmp',
      'protected-mode no',
      'client-query-buffer-limit 1mb',
      'proto-max-bulk-len 1mb',
      `sentinel announce-ip ${podIP}`,
      'requirepass "pw"',
      'sentinel sentinel-pass "pw"',
      'sentinel monitor db 10.0.0.7 6379 2',
      'sentinel auth-pass db "pw"',
      'sentinel down-after-milliseconds db 3000',
    ]);
  });

  it('knows nobody where nobody does, and waits to be told', async () => {
    const { conf } = await runPodScript('start-sentinel.sh');
    expect(conf.some((line) => line.startsWith('sentinel monitor'))).toBe(false);
  });

  it('is the same voter each time, and another than any other pod', async () => {
    const id = async (): Promise<string | undefined> =>
      (await runPodScript('start-sentinel.sh')).conf.find((line) => line.startsWith('sentinel myid'));
    expect(await id()).toMatch(/^sentinel myid [0-9a-f]{40}$/);
    expect(await id()).toBe(await id());
  });

  it('R6: that is restarted keeps what it knew, at its new address', async () => {
    const remembered = [
      'sentinel announce-ip "10.0.0.99"',
      'sentinel monitor db 10.0.0.7 6379 2',
      'sentinel current-epoch 5',
    ];
    const rewritten = [
      'user default on #0499 ~* &* +@all',
      'requirepass a b',
      'sentinel sentinel-pass a b',
      'sentinel auth-pass db a b',
    ];
    const { conf, asked } = await runPodScript('start-sentinel.sh', {
      run: { 'sentinel.conf': `${[...rewritten, ...remembered].join('\n')}\n` },
    });
    expect(conf).toEqual([
      ...remembered.slice(1),
      'client-query-buffer-limit 1mb',
      'proto-max-bulk-len 1mb',
      `sentinel announce-ip ${podIP}`,
      'requirepass "pw"',
      'sentinel sentinel-pass "pw"',
      'sentinel auth-pass db "pw"',
    ]);
    expect(asked).toEqual([]);
  });
});
