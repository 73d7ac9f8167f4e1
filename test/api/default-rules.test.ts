/**
 * When a CRD is installed, the API server holds each default against the rules of its own node, before the defaults of the fields below are
 * filled in. A rule that reads such a field has to stand on a node without a default, or the CRD is refused.
 */
import { describe, expect, test } from 'vitest';
import { celViolations } from '../../src/api/cel.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { kindCases } from './kind-cases.ts';

/** Every default that its own node's rules refuse, by its path. */
function refusedDefaults(schema: StructuralSchema, path = ''): string[] {
  const { properties = {}, items, additionalProperties } = schema;
  const own = schema.default === undefined ? [] : celViolations(schema, schema.default);
  const below = Object.entries(properties).flatMap(([name, child]) => refusedDefaults(child, `${path}.${name}`));
  const nested = [items, additionalProperties].flatMap((child) =>
    child === undefined ? [] : refusedDefaults(child, `${path}[]`),
  );
  return [...own.map(({ rule }) => `${path}: ${rule.rule}`), ...below, ...nested];
}

describe('the defaults of a kind', () => {
  test.each(kindCases)('fit the rules of their own node: $name', ({ kind }) => {
    expect(refusedDefaults(kind.schema)).toEqual([]);
  });

  test('would be refused where a rule reads a field that is filled in later', () => {
    const schema: StructuralSchema = {
      type: 'object',
      default: {},
      properties: { a: { type: 'integer', minimum: 0, default: 1 } },
      'x-kubernetes-validations': [{ rule: 'self.a > 0', message: 'too few' }],
    };
    expect(refusedDefaults(schema)).toEqual([': self.a > 0']);
  });
});
