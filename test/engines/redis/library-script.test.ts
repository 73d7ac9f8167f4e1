import { describe, expect, it } from 'vitest';
import { podIP, runPodScript } from '../../support/pod-scripts.ts';

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
const two = <T>(item: T): readonly T[] => [item, item];

describe('the primary that sentinels name', () => {
  it.each<readonly [story: string, cli: Readonly<Record<string, string>>, named: string]>([
    ['nobody answers', {}, ''],
    ['one answers', { [master('s1')]: view('10.0.0.7') }, '10.0.0.7 s1 safe s1'],
    [
      'the newest view counts',
      { [master('s0')]: view('10.0.0.7', 9), [master('s1')]: view('10.0.0.8', 10) },
      '10.0.0.8 s1 safe s1 s0',
    ],
    [
      'lines may end as on a terminal',
      { [master('s0')]: view('10.0.0.7').replaceAll('\n', '\r\n') },
      '10.0.0.7 s0 safe s0',
    ],
    [
      'the cluster may be called like one of the fields',
      { [master('s0')]: view('10.0.0.7', 3, 2, { name: 'ip' }) },
      '10.0.0.7 s0 safe s0',
    ],
    ['one has forgotten', { '*': 'ERR No such master with that name' }, ''],
  ])('%s', async (_, cli, named) => {
    const { stdout, asked } = await runPodScript({ inline: 'named_primary' }, { cli });
    expect(stdout).toBe(named);
    expect([...asked].sort()).toEqual(['-h s0 -p 26379 sentinel master db', '-h s1 -p 26379 sentinel master db']);
  });
});

describe('a primary is safe to follow', () => {
  const up = view('10.0.0.7', 3);
  const silent = view('10.0.0.7', 3, 2, { 'last-ok-ping-reply': 1501 });
  const flagged = (flags: string): string => view('10.0.0.7', 3, 2, { flags });

  it.each<readonly [story: string, views: readonly (string | undefined)[], verdict: 'safe' | 'unsafe']>([
    ['where all sentinels see it up', [up, up, up], 'safe'],
    ['where two of three do', [up, up, silent], 'safe'],
    ['where the third cannot be asked', [up, up, undefined], 'safe'],
    ['not where two have had no answer to their last ping', [up, silent, silent], 'unsafe'],
    ['not where two flag it as down', [up, flagged('s_down,master'), flagged('s_down,o_down,master')], 'unsafe'],
    ['not where two cannot be asked: they may be on the other side of a cut', [up, undefined, undefined], 'unsafe'],
    ['not where one has seen it down, and another names an older one', [up, view('10.0.0.8', 2), silent], 'unsafe'],
    ['not where two have just begun to watch it', [up, ...two(view('10.0.0.7', 3, 2, { runid: '' }))], 'unsafe'],
    ['not while one fails over, which may need no quorum', [up, up, flagged('master,force_failover')], 'unsafe'],
    ['although one fails over from an older one', [up, up, view('10.0.0.8', 2, 2, { flags: 'failover' })], 'safe'],
  ])('%s', async (_, views, verdict) => {
    const cli = Object.fromEntries(views.flatMap((text, i) => (text === undefined ? [] : [[master(`s${i}`), text]])));
    const config = { sentinels: 's0\ns1\ns2\n' };
    const { stdout } = await runPodScript({ inline: 'named_primary' }, { cli, config });
    expect(stdout).toMatch(new RegExp(`^10\\.0\\.0\\.7 s\\d ${verdict} s`));
  });

  it('with as many sentinels as the quorum, one that sees it up is enough', async () => {
    const config = { sentinels: 's0\ns1\ns2\n', quorum: '3\n' };
    const cli = { [master('s0')]: up, [master('s1')]: silent };
    expect((await runPodScript({ inline: 'named_primary' }, { cli, config })).stdout).toMatch(/ safe s/);
  });
});

describe('before a failover the sentinel asks the replicas', () => {
  const replica = (flags: string, refresh: number): string =>
    ['name', 'db', 'ip', '10.0.0.2', 'flags', flags, 'info-refresh', refresh].join('\n');
  const tilt = (is: 0 | 1): string => `# Sentinel\r\nsentinel_tilt:${is}\r`;
  const world = { '*"info sentinel"': tilt(0), '*"info-period"*': 'OK' };
  const [hurry, look, rest] = ['debug info-period 100', 'replicas db', 'debug info-period 2000'];

  it.each<readonly [story: string, cli: Readonly<Record<string, string>>, code: number, told: readonly string[]]>([
    ['all have told it', { '*"replicas db"': replica('slave', -100) }, 0, [hurry, look, rest]],
    ['it knows none', { '*"replicas db"': '' }, 0, [hurry, look, rest]],
    ['who is down is not waited for', { '*"replicas db"': replica('slave,s_down', 9999) }, 0, [hurry, look, rest]],
    ['nor who hangs, for long', { '*"replicas db"': replica('slave', 9999) }, 1, [hurry, look, look, look, rest]],
    ['it does not answer', {}, 1, [hurry, look, rest]],
    ['its clock has jumped: it would do nothing for half a minute', { '*"info sentinel"': tilt(1) }, 1, []],
  ])('%s', async (_, cli, code, told) => {
    const end = await runPodScript({ inline: 'inform s0 3' }, { cli: { ...cli, ...world, ...cli } });
    expect(end.code).toBe(code);
    expect(end.asked.filter((line) => !line.endsWith('info sentinel'))).toEqual(
      told.map((line) => `-h s0 -p 26379 sentinel ${line}`),
    );
  });

  it('R1: so does a node that comes back as the primary that it was', async () => {
    const cli = { ...world, [master('s0')]: view(podIP, 1, 0), '*"replicas db"': replica('slave', 9999) };
    const { asked } = await runPodScript('start-data.sh', {
      cli: { ...cli, '*"sentinel failover db"': 'NOGOODSLAVE' },
      mark: podIP,
    });
    const told = asked.filter((line) => / (replicas|failover) db$/.test(line));
    expect(told.map((line) => line.split(' ').at(-2))).toEqual([...Array(50).fill('replicas'), 'failover']);
  });
});
