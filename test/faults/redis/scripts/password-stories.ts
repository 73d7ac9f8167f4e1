/** What pods find that have an identity, and while the password of the clients changes. */
import type { ScriptName } from '../../../../src/engines/redis/resources/scripts.ts';
import { type PodStory, podIP } from '../../../support/pod-scripts.ts';
import { first, master, noSentinels, view, whole } from './answers.ts';
import { hashOf } from './pod-shell.ts';

const [old, next] = ['old', 'next'].map(hashOf) as [string, string];
const user = (...hashes: readonly string[]): string =>
  ['flags', 'on', 'passwords', ...hashes, 'commands', '+@all', 'keys', '~*', 'channels', '&*'].join('\n');
const started: PodStory = { password: 'next', run: { password: 'old' } };
const learning = (...hashes: readonly string[]): PodStory => ({
  ...{ password: 'next', identity: 'own' },
  cli: { [master('s0')]: view('10.0.0.7'), '*"acl getuser default"': user(...hashes) },
});
export const changing: readonly (readonly [story: string, script: ScriptName, pod: PodStory])[] = [
  ...(['ping.sh', 'admit.sh', 'hand-over.sh', 'watching.sh'] as const).flatMap((script) =>
    ['PONG', 'LOADING Redis is loading', 'AUTH failed: WRONGPASS x\nNOAUTH x', ''].map(
      (answer) =>
        [
          `knows another password: ${answer}`,
          script,
          { ...started, cli: first({ '*" ping"': answer }, whole) },
        ] as const,
    ),
  ),
  ['knows what it accepts, alone', 'ping.sh', { ...noSentinels, cli: { '*"getuser"*': user(old, next), '*': 'OK' } }],
  ['comes back with another password', 'start-data.sh', { ...noSentinels, ...started, mark: podIP }],
  [
    'comes back with what it accepted',
    'start-data.sh',
    { ...noSentinels, password: 'next', run: { password: 'next', accepted: `${old}\n${next}\n` }, mark: podIP },
  ],
  [
    'comes back without what it accepted no more',
    'start-data.sh',
    { ...noSentinels, ...started, run: { password: 'old', accepted: `${next}\n` }, mark: podIP },
  ],
  ...(['start-data.sh', 'start-sentinel.sh'] as const).flatMap((script) =>
    [[old, next], [old], [next], []].map(
      (hashes) => [`learns of ${hashes.length} passwords`, script, learning(...hashes)] as const,
    ),
  ),
  ['has an identity', 'start-sentinel.sh', { cli: { [master('s0')]: view('10.0.0.7') }, identity: 'own' }],
  ['has an identity', 'start-data.sh', { cli: { [master('s0')]: view('10.0.0.7') }, identity: 'own', mark: podIP }],
];
