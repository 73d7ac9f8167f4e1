/** What pods find of the users that the operator has set, on their own server, on their primary, and in what they keep. */
import { recordRule, recordUser } from '../../../../src/engines/redis/client/user-record.ts';
import type { ScriptName } from '../../../../src/engines/redis/resources/scripts.ts';
import type { PodStory } from '../../../support/pod-scripts.ts';
import { type Answers, asPrimary, copiesAsCluster, first, node, noSentinels } from './answers.ts';

const patternsOf = (...names: readonly string[]): string => {
  const [, , , ...patterns] = recordRule(
    names.map((name) => ({ name, digest: '0', words: name === 'bare' ? [] : ['#1', '+get', '(+set', '~x:*)'] })),
  );
  return patterns.join(' ');
};
const told = (patterns: string): string =>
  ['flags', 'off', 'passwords', 'commands', '-@all', 'keys', patterns, 'channels', '', 'selectors'].join('\n');
const own = `"-p 6379 acl getuser ${recordUser}"`;
const its = `"-h 10.0.0.9 -p 6379 acl getuser ${recordUser}"`;
const record = patternsOf('app', 'bare', 'other');
const begun = { restoring: '' };
const kept = { ...begun, users: `${record}\n` };

const primary = (answers: Answers, run: PodStory['run'] = begun): PodStory => ({ cli: first(answers, asPrimary), run });
const replica = (answers: Answers, run: PodStory['run'] = begun): PodStory => ({
  ...node('up', '10.0.0.9', 0, answers),
  run,
});

const admitted: Readonly<Record<string, PodStory>> = {
  'a primary that keeps none': primary({}),
  'a primary that keeps some': primary({ [own]: told(record) }, kept),
  'a primary that keeps some, as the cluster': primary({ ...copiesAsCluster, [own]: told(record) }, kept),
  'a primary that does not take them': primary({ [own]: told(patternsOf('app')) }, kept),
  'a primary that does not tell': primary({ [own]: 'ERR unknown command' }, kept),
  'a primary, for the ninth time': primary({ [own]: '' }, { ...kept, restoring: '........' }),
  'a primary, for the tenth time': primary({ [own]: '' }, { ...kept, restoring: '.........' }),
  'a primary that has been given them before': primary({ [own]: '' }, { users: record }),
  'a replica, and its primary has none': replica({ [its]: '', [own]: '' }, kept),
  'a replica, and its primary has others than it keeps': replica(
    { [its]: told(patternsOf('other')), [own]: told(patternsOf('other')) },
    kept,
  ),
  'a replica that does not take them': replica({ [its]: told(record), [own]: '' }),
  'a replica, and its primary does not tell': replica({ [its]: 'NOAUTH Authentication required.' }, kept),
  'a replica, and its primary does not answer': replica({ [own]: told(record) }, kept),
  'a replica, and its primary has a record without a pattern': replica({ [its]: told('') }, kept),
  'a replica, and its primary tells of no keys': replica({ [its]: 'flags\noff' }, kept),
};

const ready: Readonly<Record<string, PodStory>> = {
  'has none': primary({ [own]: '' }, { users: record }),
  'has the same': primary({ [own]: told(record) }, { users: record }),
  'has others': primary({ [own]: told(patternsOf('other')) }, { users: record }),
  'has some': primary({ [own]: told(record) }, {}),
  'has some, alone': { ...primary({ [own]: told(record) }, {}), ...noSentinels },
  'does not tell': primary({ [own]: 'ERR unknown command' }, { users: record }),
  'does not answer': { run: { users: record } },
  'has yet to be given them': primary({ [own]: '' }, kept),
};

const each = (stories: Readonly<Record<string, PodStory>>, script: ScriptName) =>
  Object.entries(stories).map(([story, pod]) => [`users: ${story}`, script, pod] as const);

export const restoring: readonly (readonly [story: string, script: ScriptName, pod: PodStory])[] = [
  ...each(admitted, 'admit.sh'),
  ...each(ready, 'ping.sh'),
  ['users: starts again', 'start-data.sh', { ...noSentinels, run: { users: record, restoring: '...' } }],
];
