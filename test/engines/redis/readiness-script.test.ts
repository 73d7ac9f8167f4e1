import { describe, expect, it } from 'vitest';
import { type PodStory, podIP, runPodScript } from '../../support/pod-scripts.ts';

describe('a replica that was behind', () => {
  const up = 'role:slave\nmaster_link_status:up\naof_enabled:1\naof_rewrite_in_progress:0\naof_rewrite_scheduled:0';
  const told = async (pod: PodStory): Promise<readonly string[]> =>
    (await runPodScript('ping.sh', { ...pod, run: { behind: '99999999999' } })).asked.filter((line) =>
      line.includes('config set replica-priority'),
    );
  const cli = { '"-p 6379 info"': up, '"-p 6379 "*': 'OK' };

  it.each<readonly [story: string, pod: PodStory, told: readonly string[]]>([
    ['may be elected with its link', { cli, mark: podIP }, ['-p 6379 config set replica-priority 100']],
    [
      'is told so once, where that comes with the copy',
      { cli, mark: podIP, traces: ['later'] },
      ['-p 6379 config set replica-priority 100'],
    ],
    [
      'not before the copy is on the disk',
      {
        cli: { ...cli, '"-p 6379 info"': up.replace('in_progress:0', 'in_progress:1') },
        mark: podIP,
        traces: ['later'],
      },
      [],
    ],
  ])('%s', async (_, pod, expected) => expect(await told(pod)).toEqual(expected));
});

describe('a replica whose primary has ended before its copy was written down', () => {
  const lost =
    'role:slave\nmaster_link_status:down\nmaster_link_down_since_seconds:9\nmaster_sync_in_progress:0\nloading:0\n' +
    'aof_enabled:1\naof_rewrite_in_progress:0\naof_rewrite_scheduled:0';
  const play = async (info: string, pod: PodStory = {}): Promise<readonly (string | undefined)[]> => {
    const cli = { '"-p 6379 info"': info, '"-p 6379 "*': 'OK' };
    const { mark, asked } = await runPodScript('ping.sh', { cli, traces: ['later'], ...pod });
    return [mark, ...asked.filter((line) => line.includes('replica-priority'))];
  };
  const electable = [podIP, '-p 6379 config set replica-priority 100'];

  it.each<readonly [story: string, info: string, pod: PodStory, expected: readonly (string | undefined)[]]>([
    ['may be elected once it is', lost, {}, electable],
    ['whatever it has held before', lost, { mark: '10.0.0.8' }, electable],
    ['not while it is being written down', lost.replace('in_progress:0\naof', 'in_progress:1\naof'), {}, [undefined]],
    ['nor before that begins', lost.replace('scheduled:0', 'scheduled:1'), {}, [undefined]],
    ['nor where it has never had its link', lost.replace(':9', ':-1'), {}, [undefined]],
    ['nor while it loads another one', lost.replace('loading:0', 'loading:1'), {}, [undefined]],
  ])('%s', async (_, info, pod, expected) => expect(await play(info, pod)).toEqual(expected));

  it('while it copies again it may not', async () => {
    const info = lost.replace('sync_in_progress:0', 'sync_in_progress:1');
    expect(await play(info)).toEqual([undefined, '-p 6379 config set replica-priority 0']);
  });
});

describe('probes', () => {
  it.each<
    readonly [script: 'ping.sh' | 'alive.sh' | 'sentinel-alive.sh' | 'watching.sh', answer: string, code: number]
  >([
    ['ping.sh', 'PONG', 0],
    ['ping.sh', 'LOADING Redis is loading the dataset in memory', 1],
    ['alive.sh', 'PONG', 0],
    ['alive.sh', 'LOADING Redis is loading the dataset in memory', 0],
    ['alive.sh', 'BUSY Redis is busy running a script', 0],
    ['alive.sh', 'NOAUTH Authentication required.', 0],
    ['alive.sh', 'ERR max number of clients reached', 0],
    ['alive.sh', 'MISCONF Errors writing to the AOF file: No space left on device', 0],
    ['alive.sh', 'Could not connect to Redis at 127.0.0.1:6379: Connection refused', 1],
    ['alive.sh', '', 1],
    ['ping.sh', 'AUTH failed: WRONGPASS invalid\nNOAUTH Authentication required.', 0],
    ['ping.sh', 'AUTH failed: ERR max number of clients reached\nError: Connection reset by peer', 0],
    ['ping.sh', 'MISCONF Errors writing to the AOF file: No space left on device', 0],
    ['ping.sh', 'Could not connect to Redis at 127.0.0.1:6379: Connection refused', 1],
    ['ping.sh', '', 1],
    ['sentinel-alive.sh', 'NOAUTH Authentication required.', 0],
    ['sentinel-alive.sh', 'PONG', 0],
    ['sentinel-alive.sh', '', 1],
    ['watching.sh', '10.0.0.7\n6379', 0],
    ['watching.sh', 'fd00:10:244::7\n6379', 0],
    ['watching.sh', '', 1],
    ['watching.sh', 'ERR something', 1],
    ['watching.sh', 'NOAUTH Authentication required.', 1],
  ])('%s with %j ends with %i', async (script, answer, code) => {
    expect((await runPodScript(script, { cli: { '*': answer } })).code).toBe(code);
  });

  const refused = { cli: { '*': 'AUTH failed: WRONGPASS invalid\nNOAUTH Authentication required.' } };
  it.each<readonly [script: 'ping.sh' | 'watching.sh', run: string, code: number]>([
    ['ping.sh', 'loading', 1],
    ['watching.sh', 'watching', 0],
  ])('%s of a server that refuses its own pod says what it said before (%s)', async (script, run, code) => {
    expect((await runPodScript(script, { ...refused, run: { [run]: '' } })).code).toBe(code);
  });
});

describe('the password of a pod', () => {
  const known = { inline: `printf '%s' "$REDISCLI_AUTH"` };

  it.each<readonly [story: string, run: Readonly<Record<string, string>>, password: string]>([
    ['is what the Secret says', {}, 'new'],
    ['is what it was started with, whatever the Secret says since', { password: 'old\n' }, 'old'],
    ['is in the configuration of a pod from before', { 'redis.conf': 'requirepass "o\\"l d"\n' }, 'o"l d'],
    ['is in that of a sentinel, too', { 'sentinel.conf': 'port 1\nrequirepass "old"\nsentinel x\n' }, 'old'],
    ['is that of the Secret where the server has escaped it', { 'redis.conf': 'requirepass "\\xc3\\xa4"\n' }, 'new'],
  ])('%s', async (_, run, password) => {
    expect((await runPodScript(known, { password: 'new', run })).stdout).toBe(password);
  });

  it('is still that when its container starts again', async () => {
    const { conf } = await runPodScript('start-data.sh', { password: 'new', run: { password: 'old\n' } });
    expect(conf).toContain('requirepass "old"');
  });
});
