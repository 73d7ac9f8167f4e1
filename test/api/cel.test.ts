import { describe, expect, test } from 'vitest';
import { celViolations } from '../../src/api/cel.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';

/** An object with one property, which holds one rule. */
const withRule = (property: StructuralSchema, rule: string): StructuralSchema => ({
  type: 'object',
  properties: { 'a-b': { ...property, 'x-kubernetes-validations': [{ rule, message: 'broken' }] } },
});
const broken = (schema: StructuralSchema, value: unknown, old?: unknown): string[] =>
  celViolations(schema, value, old).map((fault) => fault.path.join('.'));

describe('rules', () => {
  test('see integers as integers, also where text is allowed too', () => {
    expect(broken(withRule({ type: 'integer' }, 'self % 2 == 0'), { 'a-b': 3 })).toEqual(['a-b']);
    const either = withRule({ 'x-kubernetes-int-or-string': true }, 'type(self) == int ? self * 2 == 6 : self == "x"');
    expect(broken(either, { 'a-b': 3 })).toEqual([]);
    expect(broken(either, { 'a-b': 'x' })).toEqual([]);
  });

  test('on what was before run only where there was something before', () => {
    const schema = withRule({ type: 'integer' }, 'self >= oldSelf');
    expect(broken(schema, { 'a-b': 1 })).toEqual([]);
    expect(broken(schema, { 'a-b': 1 }, {})).toEqual([]);
    expect(broken(schema, { 'a-b': 1 }, { 'a-b': 2 })).toEqual(['a-b']);
  });

  test('do not run for absent fields', () => {
    expect(broken(withRule({ type: 'integer' }, 'false'), {})).toEqual([]);
  });

  test('that cannot be evaluated count as broken, with the cause', () => {
    const schema = withRule({ type: 'object', properties: { c: { type: 'string' } } }, 'self.c == "x"');
    expect(celViolations(schema, { 'a-b': {} })).toMatchObject([{ path: ['a-b'], cause: expect.any(Error) }]);
  });

  test.each([
    ["['y', 'x'].filter(key, key in self)[0] + ': not allowed'", 'y: not allowed'],
    // What the API server does where an expression gives no text.
    ["''", 'broken'],
    ['self.none', 'broken'],
  ])('may name what is wrong in this object: %s', (messageExpression, message) => {
    const rule = { rule: "!('x' in self)", message: 'broken', messageExpression };
    const map = {
      type: 'object',
      additionalProperties: { type: 'string' },
      'x-kubernetes-validations': [rule],
    } as const;
    expect(celViolations(map, { x: '1', y: '2', z: '3' })).toMatchObject([{ message }]);
  });

  test('run on every item of a list and every value of a map', () => {
    const rule = [{ rule: 'self > 1', message: 'broken' }];
    const list: StructuralSchema = { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': rule } };
    const map: StructuralSchema = {
      type: 'object',
      additionalProperties: { type: 'integer', 'x-kubernetes-validations': rule },
    };
    expect(broken(list, [1, 2, 0])).toEqual(['0', '2']);
    expect(broken(map, { a: 1, b: 2 })).toEqual(['a']);
  });

  test('on an item of a list have no old item to compare with', () => {
    const list: StructuralSchema = {
      type: 'array',
      items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'broken' }] },
    };
    expect(broken(list, [1], [2])).toEqual([]);
  });

  test('report where they say they do', () => {
    const schema: StructuralSchema = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.a > 1', message: 'broken', fieldPath: '.a' }],
    };
    expect(broken(schema, { a: 1 })).toEqual(['a']);
  });
});
