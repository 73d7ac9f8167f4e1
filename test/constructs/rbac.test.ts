import { describe, expect, test } from 'vitest';
import { mergeRules } from '../../src/constructs/rbac.ts';
import type { PolicyRule } from '../../src/engine/engine.ts';

const rule = (resources: readonly string[], verbs: readonly string[], rest: Partial<PolicyRule> = {}): PolicyRule => ({
  apiGroups: [''],
  resources,
  verbs,
  ...rest,
});

describe('rules of several parties', () => {
  test.each<[string, readonly PolicyRule[], readonly PolicyRule[]]>([
    [
      'the same right asked for twice is granted once',
      [rule(['pods'], ['get']), rule(['pods'], ['get'])],
      [rule(['pods'], ['get'])],
    ],
    [
      'verbs on one resource come together',
      [rule(['pods'], ['delete']), rule(['pods'], ['get'])],
      [rule(['pods'], ['get', 'delete'])],
    ],
    [
      'resources with the same verbs come together',
      [rule(['services'], ['get']), rule(['pods'], ['get'])],
      [rule(['pods', 'services'], ['get'])],
    ],
    [
      'verbs do not spread to other resources',
      [rule(['pods', 'services'], ['get']), rule(['pods'], ['list'])],
      [rule(['pods'], ['get', 'list']), rule(['services'], ['get'])],
    ],
    [
      'a right limited to a name stays apart from one that is not',
      [rule(['leases'], ['create']), rule(['leases'], ['get'], { resourceNames: ['x'] })],
      [rule(['leases'], ['get'], { resourceNames: ['x'] }), rule(['leases'], ['create'])],
    ],
    [
      'groups stay apart',
      [rule(['a'], ['get']), rule(['a'], ['get'], { apiGroups: ['apps'] })],
      [rule(['a'], ['get']), rule(['a'], ['get'], { apiGroups: ['apps'] })],
    ],
    [
      'the order they come in does not matter',
      [rule(['b'], ['get']), rule(['c'], ['list']), rule(['a'], ['get'])],
      [rule(['a', 'b'], ['get']), rule(['c'], ['list'])],
    ],
  ])('%s', (_, rules, merged) => {
    expect(mergeRules(rules)).toEqual(merged);
    expect(mergeRules([...rules].reverse())).toEqual(merged);
  });

  test.each<[string, PolicyRule, string]>([
    [
      'an empty list of names, which would mean all',
      rule(['secrets'], ['get'], { resourceNames: [] }),
      'secrets of core: an empty list',
    ],
    ['a wildcard verb', rule(['pods'], ['*']), 'pods of core: a wildcard'],
    ['a wildcard resource', rule(['*'], ['get']), 'a wildcard'],
    ['a wildcard under a resource', rule(['pods/*'], ['get']), 'a wildcard'],
    ['a wildcard group', rule(['pods'], ['get'], { apiGroups: ['*'] }), 'a wildcard'],
    ['a verb that grants rights', rule(['roles'], ['escalate']), 'the verb escalate is never needed'],
    ['a rule without verbs', rule(['pods'], []), 'an empty list'],
  ])('refuse %s', (_, bad, message) => {
    expect(() => mergeRules([bad])).toThrow(message);
  });
});
