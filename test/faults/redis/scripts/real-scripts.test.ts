/** The translations of the pods' scripts do what the scripts do: the same story for both, the same decisions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScriptName } from '../../../../src/engines/redis/resources/scripts.ts';
import { type PodStory, podIP, runPodScript } from '../../../support/pod-scripts.ts';
import { dataVolume, markedAt, marker, receivedAt, termFile, unfinished } from '../data-volume.ts';
import {
  asPrimary,
  behindSince,
  caughtUp,
  copiesAsCluster,
  failover,
  first,
  hadLink,
  introduced,
  itself,
  lines,
  listed,
  master,
  node,
  noSentinels,
  refusal,
  replicas,
  silent,
  view,
  whole,
  written,
} from './answers.ts';
import { type Decision, decision } from './decision.ts';
import { fenceLook } from './fence.ts';
import { fenceStories } from './fence-stories.ts';
import { handOver } from './hand-over.ts';
import { changing } from './password-stories.ts';
import type { PodShell } from './pod-shell.ts';
import { admit, alive, ping, sentinelAlive, watching } from './probes.ts';
import { fits } from './shell-pattern.ts';
import { startData } from './start-data.ts';
import { startSentinel } from './start-sentinel.ts';
import { restoring } from './user-stories.ts';

const starts: Readonly<Partial<Record<ScriptName, (shell: PodShell) => Promise<string[]>>>> = {
  'start-data.sh': startData,
  'start-sentinel.sh': startSentinel,
};
const probes: Readonly<Partial<Record<ScriptName, (shell: PodShell) => Promise<boolean>>>> = {
  ...{ 'admit.sh': admit, 'ping.sh': ping, 'alive.sh': alive, 'hand-over.sh': handOver },
  ...{ 'watching.sh': watching, 'sentinel-alive.sh': sentinelAlive, 'fence.sh': fenceLook },
};

function diskOf({ mark, term, traces = [] }: PodStory): Map<string, unknown> {
  const received = traces.includes('later') ? 3 : traces.includes('earlier') ? 1 : undefined;
  return new Map<string, unknown>([
    ...(mark === undefined ? [] : [[marker, mark] as const, [markedAt, 2] as const]),
    ...(term === undefined ? [] : [[termFile, term] as const]),
    ...(received === undefined ? [] : [[receivedAt, received] as const]),
    ...(traces.includes('unfinished') ? [[unfinished, true] as const] : []),
  ]);
}

async function translated(script: ScriptName, story: PodStory): Promise<Decision> {
  const files: Readonly<Record<string, string | undefined>> = {
    sentinels: 's0\ns1\n',
    quorum: '2\n',
    'missed-ms': '1500\n',
    'info-period-ms': '2000\n',
    'ask-within-ms': '60000\n',
    ...story.config,
  };
  const asked: string[] = [];
  const disk = diskOf(story);
  let elapsedMs = 0;
  const answerTo = (args: readonly string[]): string | undefined => {
    const line = args.join(' ');
    asked.push(line);
    return Object.entries(story.cli ?? {}).find(([pattern]) => fits(pattern, line))?.[1];
  };
  const shell: PodShell = {
    ...{
      podIP,
      podName: 'apps/db-1',
      clusterName: 'db',
      configDir: 'config',
      password: story.run?.password ?? story.password ?? 'pw',
      mounted: story.password ?? 'pw',
      isNew: story.run?.password === undefined,
      identityPassword: story.identity,
      databases: story.databases,
    },
    config: (name) => files[name] ?? '',
    cli: async (_, args) => answerTo(args),
    heard: async (_, args) => answerTo(args) ?? '',
    run: new Map(Object.entries(story.run ?? {})),
    async sleep(ms) {
      elapsedMs += ms;
    },
    seconds: () => Math.floor(elapsedMs / 1000),
    uptime: () => elapsedMs,
    disk: dataVolume(
      () => disk,
      podIP,
      () => 4 + elapsedMs,
    ),
  };
  const left = (): Pick<Decision, 'mark' | 'term' | 'users' | 'restoring'> => ({
    mark: disk.get(marker) as string | undefined,
    term: disk.get(termFile) as string | undefined,
    users: (shell.run.get('users') as string | undefined)?.trim(),
    restoring: shell.run.get('restoring') as string | undefined,
  });
  const start = starts[script];
  if (start !== undefined) return decision({ code: 0, asked, conf: await start(shell), ...left() });
  const succeeds = await probes[script]?.(shell);
  return decision({ code: succeeds === true ? 0 : 1, asked, conf: [], ...left() });
}

const named = { [master('s1')]: view('10.0.0.7') };
const primaryAt = (address: string) => ({ [`"-h ${address} -p 6379 role"`]: 'master\n70' });
const rows: readonly (readonly [story: string, script: ScriptName, pod: PodStory])[] = [
  ['follows whom the sentinels name', 'start-data.sh', { cli: { [master('s1')]: view('10.0.0.7') }, mark: podIP }],
  ['named where it was', 'start-data.sh', { cli: named, mark: '10.0.0.7' }],
  ['named where another is', 'start-data.sh', { cli: { ...named, ...primaryAt('10.0.0.7') }, mark: '10.0.0.7' }],
  ['behind, nobody answers', 'start-data.sh', { mark: podIP, run: { behind: '1' } }],
  ['behind, alone', 'start-data.sh', { ...noSentinels, mark: podIP, run: { behind: '1' } }],
  ['blank, follows', 'start-data.sh', { cli: { [master('s1')]: view('10.0.0.7') } }],
  ['blank, nobody answers', 'start-data.sh', {}],
  ['with data, nobody answers', 'start-data.sh', { mark: podIP }],
  ['with a copy from before the mark', 'start-data.sh', { mark: podIP, traces: ['earlier'] }],
  ['with a later copy', 'start-data.sh', { mark: podIP, traces: ['later'] }],
  ['with a copy that was being written', 'start-data.sh', { mark: podIP, traces: ['earlier', 'unfinished'] }],
  ['with a term', 'start-data.sh', { mark: podIP, term: 'primary-7' }],
  ['the sentinels have forgotten', 'start-data.sh', { cli: { '*': 'ERR No such master with that name' }, mark: podIP }],
  ['no sentinels', 'start-data.sh', noSentinels],
  ['no sentinels, ephemeral', 'start-data.sh', { config: { sentinels: '', ephemeral: 'yes\n' } }],
  ['no sentinels, with data', 'start-data.sh', { ...noSentinels, mark: podIP }],
  [
    'named itself, no replica known',
    'start-data.sh',
    { cli: { ...itself, [master('s0')]: view(podIP, 1, 0) }, mark: podIP },
  ],
  [
    'named itself, and a replica has told the sentinel nothing since',
    'start-data.sh',
    {
      cli: {
        ...itself,
        [master('s0')]: view(podIP, 1, 0),
        [replicas('s0')]: `${listed('10.0.0.2')}\ninfo-refresh\n99999`,
      },
      mark: podIP,
    },
  ],
  [
    'named itself, and the only replica is down',
    'start-data.sh',
    {
      cli: {
        ...itself,
        [master('s0')]: view(podIP, 1, 0),
        [replicas('s0')]: `${listed('10.0.0.2', 's_down,slave')}\ninfo-refresh\n99999`,
      },
      mark: podIP,
    },
  ],
  ['named itself, refused for long', 'start-data.sh', { cli: itself, mark: podIP }],
  [
    "another's address, no replica known",
    'start-data.sh',
    { cli: { ...itself, [master('s0')]: view(podIP, 1, 0) }, mark: '10.0.0.2' },
  ],
  [
    'the newer view counts',
    'start-data.sh',
    { cli: { [master('s0')]: view('10.0.0.7', 9), [master('s1')]: view('10.0.0.8', 10) }, mark: podIP },
  ],
  ['equal views', 'start-data.sh', { cli: { [master('s0')]: view('10.0.0.7'), [master('s1')]: view('10.0.0.8') } }],
  [
    'the one that is named is silent',
    'start-data.sh',
    { cli: { [master('s0')]: view('10.0.0.7', 1, 2, { 'last-ok-ping-reply': 1501 }) }, mark: podIP },
  ],
  [
    'two of three see it',
    'start-data.sh',
    {
      cli: { [master('s0')]: view('10.0.0.7'), [master('s2')]: view('10.0.0.7') },
      config: { sentinels: 's0\ns1\ns2\n' },
    },
  ],
  [
    'one of three sees it',
    'start-data.sh',
    { cli: { [master('s1')]: view('10.0.0.7') }, config: { sentinels: 's0\ns1\ns2\n' } },
  ],
  ['a password with quotes', 'start-data.sh', { password: 'a"b\\c d', mark: podIP }],
  ['more databases than the default', 'start-data.sh', { databases: '32', mark: podIP }],

  ['as primary', 'admit.sh', { cli: { '"-p 6379 info"': lines('role:master', ...written), '"-p 6379 "*': 'OK' } }],
  ['in sync at an address of version 6', 'admit.sh', node('up', 'fd00::9', 0, { [master('s0')]: view('fd00::9') })],
  ['as primary without a file', 'admit.sh', { cli: { '"-p 6379 info"': 'role:master', '"-p 6379 "*': 'OK' } }],
  ['as primary that does not take the setting', 'admit.sh', { cli: { '"-p 6379 info"': 'role:master' } }],
  ['in sync', 'admit.sh', node('up', '10.0.0.9', 0)],
  ['in sync, unknown', 'admit.sh', node('up', '10.0.0.9', 0, { [replicas('s0')]: '' })],
  ['in sync, out of reach', 'admit.sh', node('up', '10.0.0.9', 0, { [replicas('s0')]: listed(podIP, 's_down,slave') })],
  [
    'in sync, known to one of two',
    'admit.sh',
    node('up', '10.0.0.9', 0, { [master('s1')]: view('10.0.0.9'), [replicas('s1')]: listed('10.0.0.2') }),
  ],
  ['in sync, nobody answers', 'admit.sh', node('up', '10.0.0.9', 0, { '"-h "*': '' })],
  ['in sync with one that was replaced', 'admit.sh', node('up', '10.0.0.7', 0)],
  [
    'in sync with one that was replaced, promoted',
    'admit.sh',
    node('up', '10.0.0.7', 0, { '"-p 6379 role"': 'master' }),
  ],
  ['in sync, named itself', 'admit.sh', node('up', '10.0.0.7', 0, { [master('s0')]: view(podIP) })],
  ['copying', 'admit.sh', node('down', '10.0.0.7', 1)],
  ['waits for a copy', 'admit.sh', { ...node('down', '10.0.0.9', 0), mark: podIP }],
  ['behind, its primary just gone', 'ping.sh', behindSince('99999999999')],
  ['behind, its primary long gone', 'ping.sh', behindSince('-9999999')],
  ['behind, nobody knows since when', 'ping.sh', behindSince('')],
  ['without the primary whose copy it has', 'admit.sh', node('down', '10.0.0.7', 0, hadLink)],
  ['behind, and blank', 'ping.sh', { ...node('down', '10.0.0.7', 0), run: { behind: '-9999999' } }],
  ['behind no more', 'ping.sh', { ...node('up', '10.0.0.9', 0), mark: podIP, run: { behind: '1' } }],
  [
    'behind no more, by a copy',
    'ping.sh',
    { ...node('up', '10.0.0.9', 0), mark: podIP, traces: ['later'], run: { behind: '1' } },
  ],
  ['with a dead primary', 'admit.sh', node('down', '10.0.0.7', 0)],
  ['named where it was', 'admit.sh', { ...node('down', '127.0.0.1', 0), mark: '10.0.0.9' }],
  ['named where another is', 'admit.sh', { ...node('down', '127.0.0.1', 0, primaryAt('10.0.0.9')), mark: '10.0.0.9' }],
  ['with the one that the sentinels name', 'admit.sh', node('down', '10.0.0.9', 0)],
  ['named itself', 'admit.sh', { cli: { ...node('down', '10.0.0.7', 0).cli, [master('s0')]: view(podIP) } }],
  ['silent', 'admit.sh', {}],
  ['loading', 'admit.sh', { cli: { '"-p 6379 info"': 'LOADING Redis is loading the dataset in memory' } }],

  ['where all speak as the cluster', 'ping.sh', { cli: first(introduced, asPrimary) }],
  ['where all speak as the cluster', 'admit.sh', { cli: first(introduced, asPrimary) }],
  [
    'where all speak as the cluster, and it was said',
    'ping.sh',
    { cli: first(introduced, asPrimary), run: { confined: '' } },
  ],
  ['where a sentinel does not', 'ping.sh', { cli: first({ ...introduced, '*"--user"*': 'NOAUTH' }, asPrimary) }],
  [
    'where the second sentinel does not',
    'ping.sh',
    { cli: first({ ...copiesAsCluster, '"-h s0 -p 26379 --user"*': 'PONG', '*"--user"*': 'NOAUTH' }, asPrimary) },
  ],
  ['without sentinels', 'ping.sh', { ...noSentinels, cli: first(copiesAsCluster, asPrimary) }],
  ['in sync with one that was replaced, as the cluster', 'admit.sh', node('up', '10.0.0.7', 0, introduced)],
  ['with a dead primary, as the cluster', 'admit.sh', node('down', '10.0.0.7', 0, introduced)],
  ['is too late to ask', 'hand-over.sh', { cli: whole, config: { 'ask-within-ms': '0\n' } }],
  ['hands over as the cluster', 'hand-over.sh', { cli: first(introduced, whole) }],
  [
    'hands over, and is not let to follow',
    'hand-over.sh',
    { cli: first({ ...introduced, '"-p 6379 --user"*': 'WRONGPASS' }, whole) },
  ],
  ['that is confined', 'watching.sh', { cli: { '*': 'OK' }, identity: 'own', run: { confined: '' } }],
  ['that is to be confined', 'watching.sh', { cli: { '*': 'OK' }, identity: 'own' }],

  ...(['ping.sh', 'alive.sh', 'sentinel-alive.sh', 'watching.sh'] as const).flatMap((script) =>
    [
      'PONG',
      'LOADING Redis is loading',
      'MASTERDOWN Link',
      'BUSY Redis',
      'MISCONF Errors',
      'NOAUTH x',
      'AUTH failed: WRONGPASS x\nNOAUTH x',
      'AUTH failed: ERR max number of clients reached',
      'ERR max number of clients reached',
      'Error: Connection reset by peer',
      'Could not connect to Redis at 127.0.0.1:6379: Connection refused',
      '',
      undefined,
    ].flatMap((answer) => {
      const cli: PodStory = answer === undefined ? {} : { cli: { '*': answer } };
      const before = { run: { loading: '', watching: '' } };
      return [
        [String(answer), script, cli] as const,
        [`${answer}, after another answer`, script, { ...cli, ...before }] as const,
      ];
    }),
  ),
  ['an address', 'watching.sh', { cli: { '*': '10.0.0.7\n6379' } }],
  ['an address of version 6', 'watching.sh', { cli: { '*': 'fd00:10:244::7\n6379' } }],

  ['all goes well', 'hand-over.sh', { cli: whole }],
  ['a replica', 'hand-over.sh', { cli: { ...whole, '"-p 6379 info replication"': caughtUp } }],
  ['no replicas', 'hand-over.sh', { cli: { ...whole, '"-p 6379 info replication"': 'role:master' } }],
  ['no sentinels', 'hand-over.sh', { ...noSentinels, cli: whole }],
  ['unknown to the sentinels', 'hand-over.sh', { cli: { ...whole, [master('s0')]: view('10.0.0.9') } }],
  ['nobody answers', 'hand-over.sh', {}],
  ['one replica is silent', 'hand-over.sh', { cli: silent('10.0.0.2') }],
  [
    'one replica is behind',
    'hand-over.sh',
    { cli: { ...whole, '"-h 10.0.0.2 -p 6379 info replication"': 'slave_repl_offset:69' } },
  ],
  [
    'one replica is ahead',
    'hand-over.sh',
    { cli: { ...whole, '"-h 10.0.0.2 -p 6379 info replication"': 'slave_repl_offset:710' } },
  ],
  ['Sentinel refuses', 'hand-over.sh', { cli: { ...whole, [failover]: refusal } }],
  ['Sentinel has begun', 'hand-over.sh', { cli: { ...whole, [failover]: 'INPROG Failover already in progress' } }],
  ['Sentinel does not answer', 'hand-over.sh', { cli: silent('failover') }],
  ['no replica answers any more', 'hand-over.sh', { cli: silent('role') }],
  ['the pause fails', 'hand-over.sh', { cli: silent('"-p 6379 "*') }],
  [
    'a replica that writes its copy',
    'hand-over.sh',
    {
      cli: {
        '"-p 6379 info persistence"': 'aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:1',
        ...{ ...whole, '"-p 6379 info replication"': caughtUp },
      },
    },
  ],

  [
    'learns the primary',
    'start-sentinel.sh',
    {
      cli: { [master('s0')]: view('10.0.0.7') },
      config: {
        'sentinel.conf': 'sentinel down-after-milliseconds db 3000\nsentinel parallel-syncs db 2\n',
        quorum: '3\n',
      },
    },
  ],
  ...changing,
  ...fenceStories,
  ...restoring,
  ['knows nobody', 'start-sentinel.sh', { password: 'a"b\\c d' }],
];

/** A shell starts some hundred processes in the longest stories. */
const patience = { timeout: 300_000 };

describe('a translated script decides as the script does', patience, () => {
  it.concurrent.each(rows)('%s: %s', async (_, script, pod) => {
    const end = await runPodScript(script, pod);
    // Time-outs and refusals end a script with codes of their own; nobody tells them apart.
    const real = decision({ ...end, code: end.code === 0 ? 0 : 1 });
    expect(await translated(script, pod)).toEqual(real);
  });

  it.each(['admit.sh', 'ping.sh'] as const)(
    '%s decides alike, whatever the node and the sentinels say',
    async (script) => {
      const address = fc.constantFrom(podIP, '10.0.0.7', '10.0.0.8');
      const sight = fc.record({
        flags: fc.constantFrom('master', 'master', 's_down,master', 'master,failover_in_progress'),
        runid: fc.constantFrom('c0ffee', 'c0ffee', ''),
        'last-ok-ping-reply': fc.constantFrom(0, 1200, 1201, 1500, 1501, ''),
      });
      const views = fc.option(fc.tuple(address, fc.integer({ min: 0, max: 11 }), fc.constant(2), sight), {
        nil: undefined,
      });
      const story = fc.record({
        role: fc.constantFrom('master', 'slave', 'sentinel'),
        status: fc.constantFrom('up', 'down', ''),
        host: address,
        syncing: fc.constantFrom('0', '1', ''),
        link: fc.constantFrom('loading:0', 'loading:1', 'loading:0\nmaster_link_down_since_seconds:9'),
        views: fc.tuple(views, views),
        quorum: fc.constantFrom('1\n', '2\n'),
        missed: fc.constantFrom('1200\n', '1500\n'),
        known: fc.tuple(fc.boolean(), fc.boolean()),
        enabled: fc.constantFrom('1', '1', '1', '0', ''),
        rewriting: fc.constantFrom('0', '0', '1'),
        term: fc.constantFrom(undefined, 'primary-3', 'replica-3', 'replica-12'),
        told: fc.constantFrom('', 'primary-3', 'primary-4', 'replica-2'),
        theirs: fc.constantFrom('', 'primary-2', 'primary-5', 'replica-9'),
        traces: fc.subarray(['earlier', 'later', 'unfinished'] as const),
        now: fc.constantFrom('slave', 'slave', 'master'),
        mark: fc.constantFrom(undefined, podIP, '10.0.0.2'),
      });
      await fc.assert(
        fc.asyncProperty(
          story,
          async ({ role, status, host, syncing, views: [first, second], quorum, missed, ...more }) => {
            const [knows, secondKnows] = more.known.map((knowsMe) => listed(knowsMe ? podIP : '10.0.0.2'));
            const pod: PodStory = {
              config: { quorum, 'missed-ms': missed },
              traces: more.traces.includes('later') ? more.traces.filter((trace) => trace !== 'earlier') : more.traces,
              ...(more.mark === undefined ? {} : { mark: more.mark }),
              ...(more.term === undefined ? {} : { term: more.term }),
              cli: {
                '"-p 6379 info"': lines(
                  ...[
                    `role:${role}`,
                    `master_link_status:${status}`,
                    `master_host:${host}`,
                    `master_sync_in_progress:${syncing}`,
                    more.link,
                    `aof_enabled:${more.enabled}`,
                    `aof_rewrite_in_progress:${more.rewriting}`,
                    'aof_rewrite_scheduled:0',
                  ],
                ),
                [replicas('s0')]: knows ?? '',
                [replicas('s1')]: secondKnows ?? '',
                '"-p 6379 role"': more.now,
                '"-p 6379 config get cluster-announce-hostname"': `cluster-announce-hostname\n${more.told}`,
                '"-h "*" config get cluster-announce-hostname"': `cluster-announce-hostname\n${more.theirs}`,
                ...(first === undefined ? {} : { [master('s0')]: view(...first) }),
                ...(second === undefined ? {} : { [master('s1')]: view(...second) }),
                '"-p 6379 "*': 'OK',
              },
            };
            const end = await runPodScript(script, pod);
            expect(await translated(script, pod)).toEqual(decision({ ...end, code: end.code === 0 ? 0 : 1 }));
          },
        ),
        { numRuns: 40 },
      );
    },
  );
});
