import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { schemaViolations, withDefaults } from '../../src/api/check.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';

const spec = redisKind.schema.properties?.spec ?? {};
const ajv = new Ajv({ useDefaults: true, strict: false, formats: { int64: true, 'date-time': true } });
const independent = ajv.compile(spec);

const garbage = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
);

/** Values near what a schema allows: each node fits it more often than not. */
function near(schema: StructuralSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 200, arbitrary: fitting(schema) },
    { weight: 1, arbitrary: garbage },
    { weight: 1, arbitrary: fc.integer() },
  );
}

function fitting(schema: StructuralSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom<unknown>(...schema.enum);
  switch (schema.type) {
    case 'object': {
      const { additionalProperties } = schema;
      if (additionalProperties !== undefined)
        return fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), near(additionalProperties));
      const properties = Object.entries(schema.properties ?? {}).map(([name, child]) => [name, near(child)] as const);
      const record = (requiredKeys: string[]) => fc.record(Object.fromEntries(properties), { requiredKeys });
      return fc.oneof(
        { weight: 80, arbitrary: record([...(schema.required ?? [])]) },
        { weight: 1, arbitrary: record([]) },
      );
    }
    case 'array':
      return listOf(schema);
    case 'integer': {
      const { minimum = 0, maximum = 9 } = schema;
      return fc.oneof(
        { weight: 120, arbitrary: fc.integer({ min: minimum, max: maximum }) },
        { weight: 1, arbitrary: fc.constantFrom(minimum - 1, maximum + 1) },
      );
    }
    case 'boolean':
      return fc.boolean();
    default:
      return schema.pattern === undefined
        ? fc.string({ maxLength: (schema.maxLength ?? 9) + 1 })
        : fc.stringMatching(new RegExp(schema.pattern), { maxLength: schema.maxLength ?? 9 });
  }
}

/** A general validator does not know which items Kubernetes takes for the same one, so there is no such pair. */
function listOf(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const { items = {}, minItems = 0, 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  if (type !== 'map' && type !== 'set') return fc.array(near(items), { minLength: minItems, maxLength: 3 });
  const key = (item: unknown): unknown =>
    type === 'set' ? item : keys.map((name) => (item as Readonly<Record<string, unknown>> | null)?.[name]);
  return fc.uniqueArray(near(items), { maxLength: 3, selector: (item) => JSON.stringify(key(item)) });
}

describe('a value', () => {
  test('has the verdict and the defaults that a general validator gives it', () => {
    let accepted = 0;
    fc.assert(
      fc.property(near(spec), (generated) => {
        // Not structured clones: the generator may use one object twice, and ajv fills in where it stands; nor has JSON a -0.
        const [value, other] = [0, 1].map(() => JSON.parse(JSON.stringify(generated)) as unknown);
        const fits = independent(other);
        const filled = withDefaults(spec, value);
        const faults = schemaViolations(spec, filled);
        expect({ fits: faults.length === 0, faults }).toEqual({ fits, faults });
        if (fits) expect(filled).toEqual(other);
        accepted += fits ? 1 : 0;
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(3);
  }, 30_000);

  test('is counted in characters', () => {
    const schema: StructuralSchema = { type: 'string', maxLength: 2, minLength: 2 };
    expect(schemaViolations(schema, '💾💾')).toEqual([]);
    expect(schemaViolations(schema, '💾').map((fault) => fault.rule)).toEqual(['minLength 2']);
  });

  test.each<[StructuralSchema, unknown, string]>([
    [{ type: 'string' }, 8, 'must be a string, and is the number 8: in YAML it takes quotes'],
    [{ type: 'string' }, ['a'], 'must be a string, and is a list'],
    [{ type: 'integer' }, 2.5, 'must be an integer, and is the number 2.5'],
    [{ type: 'integer' }, '3', 'must be an integer, and is the string "3"'],
    [{ type: 'boolean' }, 'x'.repeat(41), 'must be a boolean, and is a string'],
    [{ type: 'array' }, {}, 'must be a list, and is an object'],
    [{ type: 'object' }, null, 'must be an object, and is null'],
    [{ 'x-kubernetes-int-or-string': true }, true, 'must be an integer or a string, and is the boolean true'],
    // It may be a password that stands in the wrong place.
    [{ type: 'object' }, 'hunter2', 'must be an object, and is a string'],
  ])('for %j that is %j is refused in words', (schema, value, words) => {
    expect(schemaViolations(schema, value).map(({ message }) => message)).toEqual([words]);
  });

  test('shares nothing with the defaults of the schema', () => {
    const schema: StructuralSchema = {
      type: 'object',
      properties: { a: { type: 'object', default: { b: [] }, 'x-kubernetes-preserve-unknown-fields': true } },
    };
    const [first, second] = [withDefaults(schema, {}), withDefaults(schema, {})] as { a: { b: unknown[] } }[];
    first?.a.b.push(1);
    expect(second).toEqual({ a: { b: [] } });
  });

  test('has its own shape where a default does not apply', () => {
    const schema: StructuralSchema = { type: 'object', properties: { a: { type: 'integer', default: 1 } } };
    expect(withDefaults(schema, { a: 2 })).toEqual({ a: 2 });
    expect(withDefaults(schema, [])).toEqual([]);
    expect(withDefaults(schema, 'a')).toBe('a');
  });
});
