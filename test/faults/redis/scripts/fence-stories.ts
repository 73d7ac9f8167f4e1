/** What the fence of a pod finds when it looks. */
import type { ScriptName } from '../../../../src/engines/redis/resources/scripts.ts';
import { type PodStory, podIP } from '../../../support/pod-scripts.ts';
import { type Answers, first, lines, listed, master, replicas, view } from './answers.ts';

const own = '"-p 6379 config get min-replicas-to-write"';
const watched = { watched: '', replicas: '10.0.0.2 10.0.0.3' };
const isClosed: Answers = { [own]: 'min-replicas-to-write\n1000000' };
const known = (ip: string): string => listed(ip).replace('runid\n', 'runid\nc0ffee');
const settings = (value: string): PodStory['config'] => ({
  'redis.conf': `port 6379\nmin-replicas-to-write ${value}\n`,
});
const nobody = 'ERR No such master with that name';
const said = (text: string): Answers => ({ [master('s0')]: text, [master('s1')]: text });
const withLag = (...lags: readonly number[]): string =>
  lines(
    'role:master',
    ...lags.map((lag, i) => `slave${i}:ip=10.0.0.${i + 2},port=6379,state=online,offset=70,lag=${lag},type=replica`),
    'slave9:ip=10.0.0.9,port=6379,state=wait_bgsave,offset=0,lag=0',
  );
const alone = withLag();
const looking = (fence: string, info: string, answers: Answers = {}, run: PodStory['run'] = watched): PodStory => ({
  config: { fence: `${fence}\n` },
  run,
  cli: first(answers, {
    '"-p 6379 info replication"': info,
    [own]: 'min-replicas-to-write\n1',
    '"-p 6379 "*': 'OK',
  }),
});
/** Its time is over, and it is not. */
const [late, early] = ['Isolated 0', 'Isolated 60000'];
const fenced = { ...watched, fenced: '1' };

const found: Readonly<Record<string, PodStory>> = {
  'is a replica': looking(late, 'role:slave'),
  'was fenced, and is a replica': looking(late, 'role:slave', {}, fenced),
  'was fenced, and is a replica that takes writes again': looking(late, 'role:slave', isClosed, fenced),
  'is told to do without': looking('Off 0', alone, isClosed, fenced),
  'is told to do without, and has no note': looking('Off 0', alone, isClosed),
  'has no note, and its configuration says it': {
    ...looking('Off 0', alone, isClosed),
    config: { fence: 'Off 0\n', ...settings('2') },
  },
  'has a note of a fence': looking('Off 0', alone, isClosed, { ...watched, fenced: '1000000' }),
  'has no answer': looking(late, ''),
  'was never watched': looking(late, alone, {}, {}),
  'was never watched, and is named': looking(late, withLag(1), said(view(podIP)), {}),
  'has a replica that acknowledges': looking(late, withLag(9, 1), {}, { ...watched, named: '' }),
  'has a replica that acknowledges, and was not named yet': looking(early, withLag(9, 1)),
  'has one again': looking(late, withLag(0), isClosed, fenced),
  'has one that does not, and no sentinel': looking(late, withLag(9)),
  'has one that does not, and the sentinels': looking(late, withLag(9), said(view(podIP))),
  'reaches nobody for long': looking(late, alone),
  'reaches nobody yet': looking(early, alone),
  'is fenced already': looking(late, alone, isClosed, fenced),
  'was fenced, and somebody has set it back': looking(late, alone, {}, fenced),
  'is named': looking(early, alone, said(view(podIP))),
  'is named again': looking(early, alone, { ...isClosed, ...said(view(podIP)) }, fenced),
  'is named by one of two': looking(early, alone, { ...isClosed, [master('s0')]: view(podIP) }, fenced),
  'is named by nobody, which is no reason to take writes': looking(
    early,
    alone,
    { ...isClosed, ...said(nobody) },
    fenced,
  ),
  'is named by nobody, and takes writes': looking(early, alone, said(nobody)),
  'has been elected, and most name another yet': looking(early, alone, said(view('10.0.0.7'))),
  'was named, and most name another': looking(early, alone, said(view('10.0.0.7')), { ...watched, named: '' }),
  'was named, and most name another while a replica acknowledges': looking(early, withLag(0), said(view('10.0.0.7')), {
    ...watched,
    named: '',
  }),
  'was replaced, reaches no sentinel, and has a replica that acknowledges': looking(early, withLag(0), isClosed, {
    ...fenced,
    replaced: '',
  }),
  'was replaced, and is named again': looking(
    early,
    withLag(0),
    { ...isClosed, ...said(view(podIP)) },
    { ...fenced, replaced: '' },
  ),
  'is named in the look that would be too late': looking(late, alone, said(view(podIP))),
  'is named by nobody in the look that would be too late': looking(late, alone, said(nobody)),
  'has one that the sentinels do not know': looking(late, withLag(0), {}, { ...watched, replicas: '10.0.0.3' }),
  'has one of which only one sentinel knows': looking(
    early,
    withLag(0, 9),
    { ...said(view(podIP)), [replicas('s0')]: known('10.0.0.2'), [replicas('s1')]: known('10.0.0.4') },
    { ...watched, replicas: '10.0.0.3' },
  ),
  'has one that the sentinels know': looking(
    early,
    withLag(0, 9),
    { ...said(view(podIP)), [replicas('s0')]: known('10.0.0.2'), [replicas('s1')]: known('10.0.0.2') },
    { ...watched, replicas: '10.0.0.3' },
  ),
  'all goes well': looking(early, withLag(0), said(view(podIP))),
  'has its replica, which does not count': looking('Strict 0', withLag(0)),
  'has its replica, and the sentinels, which count': looking(
    'Strict 60000',
    withLag(0),
    { ...isClosed, ...said(view(podIP)) },
    fenced,
  ),
};

export const fenceStories: readonly (readonly [story: string, script: ScriptName, pod: PodStory])[] = Object.entries(
  found,
).map(([story, pod]) => [story, 'fence.sh', pod] as const);
