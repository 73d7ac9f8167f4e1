/** The small pieces that texts for people are made of. */
import { describe, expect, it } from 'vitest';
import { lineDiff } from '../../src/cli/line-diff.ts';
import { specChanges } from '../../src/cli/spec-change.ts';
import { ageText, tableText } from '../../src/cli/table.ts';
import { now } from './world.ts';

describe('line diff', () => {
  it.each([
    ['', 'a\n', ['- ', '+ a']],
    ['a\nb\nc\n', 'a\nb\nc\n', []],
    ['a\nb\nc\n', 'a\nB\nc\n', ['- b', '+ B']],
    ['a\nb\nc\n', 'b\nc\nd\n', ['- a', '+ d']],
    ['a\nb\nc\nd\n', 'a\nx\nc\ny\nd\n', ['- b', '+ x', '+ y']],
    ['a\na\nb\n', 'a\nb\nb\n', ['- a', '+ b']],
  ])('from %j to %j', (from, to, lines) => {
    expect(lineDiff(from, to)).toEqual(lines);
  });
});

describe('changes of a spec', () => {
  it('names what comes, what goes and what is another, each by its path', () => {
    const has = { replicas: 3, config: { maxclients: 500 }, list: [{ a: 1 }], same: { a: 1 } };
    const wanted = { replicas: 5, config: { timeout: 1 }, list: [{ a: 2 }], same: { a: 1 } };
    expect(specChanges(wanted, has)).toEqual([
      { path: 'spec.replicas', from: 3, to: 5 },
      { path: 'spec.config.maxclients', from: 500 },
      { path: 'spec.config.timeout', to: 1 },
      { path: 'spec.list', from: [{ a: 1 }], to: [{ a: 2 }] },
    ]);
  });
});

describe('ages', () => {
  it.each([
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [7199, '119m'],
    [7200, '2h'],
    [48 * 3600 - 1, '47h'],
    [48 * 3600, '2d'],
    [-5, '0s'],
  ])('of %d seconds', (seconds, text) => {
    expect(ageText(new Date(now - seconds * 1000).toISOString(), now)).toBe(text);
  });

  it('are empty where they are not known', () => {
    expect(ageText(undefined, now)).toBe('');
    expect(ageText('yesterday', now)).toBe('');
  });
});

it('aligns a table, and leaves no space at the end of a line', () => {
  expect(
    tableText(
      ['A', 'LONG'],
      [
        ['longer', ''],
        ['b', 'c'],
      ],
      '  ',
    ),
  ).toBe('  A        LONG\n  longer\n  b        c\n');
});
