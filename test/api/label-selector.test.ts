import { expect, it } from 'vitest';
import { labelSelector, labelSelectorFault } from '../../src/api/label-selector.ts';

const blue = { tier: 'blue', env: 'test' };

it.each<readonly [text: string, labels: Readonly<Record<string, string>> | undefined, isSelected: boolean]>([
  ['tier=blue', blue, true],
  ['tier = blue', blue, true],
  ['tier==blue', blue, true],
  ['tier=green', blue, false],
  ['tier=blue', undefined, false],
  ['tier=', { tier: '' }, true],
  ['tier=', {}, false],
  ['tier!=green', blue, true],
  ['tier!=blue', blue, false],
  ['tier!=blue', undefined, true],
  ['tier', blue, true],
  ['tier', {}, false],
  ['!tier', blue, false],
  ['!tier', {}, true],
  ['! tier', {}, true],
  ['tier in (green, blue)', blue, true],
  ['tier in (green)', blue, false],
  ['tier in (green)', {}, false],
  ['tier in(blue)', blue, true],
  ['tier in ()', { tier: '' }, true],
  ['tier notin (green,red)', blue, true],
  ['tier notin (green,blue)', blue, false],
  ['tier notin (green)', {}, true],
  ['tier=blue,env=test', blue, true],
  ['tier=blue , env in (prod, test),!old', blue, true],
  ['tier=blue,env in (prod,test),old', blue, false],
  ['in=blue', { in: 'blue' }, true],
  ['example.com/tier in (blue)', { 'example.com/tier': 'blue' }, true],
  ['example.com/tier=blue', { tier: 'blue' }, false],
])('%j of %j: %s', (text, labels, isSelected) => {
  expect(labelSelector(text).matches(labels)).toBe(isSelected);
});

it.each([
  '',
  ' ',
  'tier=blue,',
  ',tier',
  'tier=blue env=test',
  'tier=b/c',
  'tier=-blue',
  'tier in blue',
  'tier in (blue',
  'tier > 3',
  '=blue',
  '!tier=blue',
  'Example.com/tier=blue',
  'a/b/c=d',
  'tier=blue;rm',
  'tier=blue\n&x=y',
  `tier=${'a'.repeat(64)}`,
  Array.from({ length: 100 }, (_, i) => `a${i}=b${i}`).join(','),
])('%j is none', (text) => {
  expect(labelSelectorFault(text)).toContain('must be a label selector');
  expect(() => labelSelector(text)).toThrow('must be a label selector');
});
