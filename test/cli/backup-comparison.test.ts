/** What `backup verify` says of what it has found. */
import { expect, it } from 'vitest';
import { comparison } from '../../src/cli/backup/comparison.ts';
import { engineOf } from '../support/backup-story.ts';

type Contents = Readonly<Record<string, string>>;
type Row = readonly [
  story: string,
  kind: string,
  wanted: Contents | undefined,
  found: Contents,
  lines: RegExp[],
  boolean,
];

it.each<Row>([
  ['the same', 'RedisCluster', { 'keys.0': '3' }, { 'keys.0': '3' }, [/^WHAT/, /^keys.0 +3 +3 +same$/], true],
  ['less', 'RedisCluster', { 'keys.0': '3' }, {}, [/^WHAT/, /^keys.0 +3 +nothing +DIFFERS$/], false],
  ['nothing of nothing', 'RedisCluster', {}, {}, [/empty database.*: nothing to compare$/], true],
  ['something of nothing', 'RedisCluster', {}, { 'keys.0': '3' }, [/^WHAT/, /^keys.0 +nothing +3 +DIFFERS$/], false],
  ['something of what nobody knows', 'RedisCluster', undefined, { 'keys.0': '3' }, [/nothing was compared$/], false],
  ['nothing of what nobody knows', 'RedisCluster', undefined, {}, [/nothing was compared$/], false],
  [
    'more than the backup tells of',
    'EtcdCluster',
    { revision: '7' },
    { revision: '7', hash: '1', compactRevision: '0' },
    [/^WHAT/, /^revision +7 +7 +same$/],
    true,
  ],
])('%s', (_, kind, wanted, found, lines, isSame) => {
  const { backup } = engineOf(kind);
  if (backup === undefined) throw new Error(`no backups of ${kind}`);
  const result = comparison(backup, wanted, found);
  const said = result.text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
  expect(said).toEqual(lines.map((line) => expect.stringMatching(line)));
  expect(result.isSame).toBe(isSame);
});
