/**
 * Defaults and checks of a structural schema, as the API server does them.
 *
 * Written out for the few keywords that `StructuralSchema` has: a general validator that compiles schemas costs the
 * controller 15 MB for good, a fifth of its memory. The tests hold this one against such a validator, and against the
 * API server itself.
 */
import { longestOpenValue } from './bounds.ts';
import { patternMessage } from './pattern-message.ts';
import { schemaOfKey } from './prune.ts';
import type { StructuralSchema } from './schema.ts';
import { typeMessage } from './type-message.ts';
import type { Path } from './violation.ts';

export interface SchemaViolation {
  readonly path: Path;
  /** The keyword with its bound. */
  readonly rule: string;
  readonly message: string;
}

/** A copy with every absent property that has a default filled in, from the top down. */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => withDefaults(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const defaults = Object.entries(schema.properties ?? {}).flatMap(([name, child]): [string, unknown][] =>
    child.default === undefined || Object.hasOwn(value, name) ? [] : [[name, structuredClone(child.default)]],
  );
  return Object.fromEntries(
    [...Object.entries(value), ...defaults].map(([key, child]): [string, unknown] => {
      const childSchema = schemaOfKey(schema, key);
      return [key, childSchema === undefined ? child : withDefaults(childSchema, child)];
    }),
  );
}

/** Every fault of a value, deepest last. Properties that the schema does not know are none of its business. */
export function schemaViolations(schema: StructuralSchema, value: unknown, path: Path = []): SchemaViolation[] {
  if (value === null && schema.nullable === true) return [];
  const type = typeFault(schema, value);
  if (type !== undefined) return [{ path, ...type }];
  const own = boundFaults(schema, value).map((fault) => ({ path, ...fault }));
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return own;
    const repeated = repeatedItems(schema, value).map((i) => ({
      path: [...path, i],
      rule: 'unique',
      message: 'is in the list before',
    }));
    return [...own, ...repeated, ...value.flatMap((item, i) => schemaViolations(items, item, [...path, i]))];
  }
  if (typeof value !== 'object' || value === null) return own;
  const missing = (schema.required ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: [...path, name], rule: 'required', message: 'is required' }));
  const below = Object.entries(value).flatMap(([key, child]) => {
    const childSchema = schemaOfKey(schema, key);
    return childSchema === undefined ? [] : schemaViolations(childSchema, child, [...path, key]);
  });
  return [...own, ...missing, ...below];
}

/** Positions of items that a set, or a map by its keys, has before. */
function repeatedItems(schema: StructuralSchema, items: readonly unknown[]): number[] {
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  if (type !== 'set' && type !== 'map') return [];
  const nameOf = (item: unknown): string =>
    JSON.stringify(
      type === 'set' ? item : keys.map((key) => (item as Readonly<Record<string, unknown>> | null)?.[key]),
    );
  const names = items.map(nameOf);
  return names.flatMap((name, i) => (names.indexOf(name) < i ? [i] : []));
}

type Finding = Omit<SchemaViolation, 'path'>;

function typeFault(schema: StructuralSchema, value: unknown): Finding | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    const fits = typeof value === 'string' || Number.isInteger(value);
    return fits ? undefined : { rule: 'type integer or string', message: typeMessage('integer or string', value) };
  }
  const { type } = schema;
  return type === undefined || isOfType(type, value)
    ? undefined
    : { rule: `type ${type}`, message: typeMessage(type, value) };
}

function isOfType(type: NonNullable<StructuralSchema['type']>, value: unknown): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
  }
}

function boundFaults(schema: StructuralSchema, value: unknown): Finding[] {
  const findings: Finding[] = [];
  const limit = (keyword: keyof StructuralSchema, fits: (bound: number) => boolean, message: string): void => {
    const bound = schema[keyword];
    if (typeof bound === 'number' && !fits(bound)) {
      findings.push({ rule: `${keyword} ${bound}`, message: `${message} ${bound}` });
    }
  };
  if (schema.enum !== undefined && !schema.enum.some((allowed) => allowed === value)) {
    const allowed = schema.enum.join(', ');
    findings.push({ rule: `enum ${allowed}`, message: `must be one of ${allowed}` });
  }
  if (typeof value === 'number') {
    limit('minimum', (bound) => value >= bound, 'must be at least');
    limit('maximum', (bound) => value <= bound, 'must be at most');
  }
  if (typeof value === 'string') {
    // In characters, as the API server counts them, not in UTF-16 units.
    const length = [...value].length;
    limit('minLength', (bound) => length >= bound, 'must have at least this many characters:');
    limit('maxLength', (bound) => length <= bound, 'must have at most this many characters:');
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
      findings.push({ rule: `pattern ${schema.pattern}`, message: patternMessage(schema.pattern) });
    }
  }
  if (Array.isArray(value)) {
    limit('minItems', (bound) => value.length >= bound, 'must have at least this many items:');
    limit('maxItems', (bound) => value.length <= bound, 'must have at most this many items:');
  } else if (typeof value === 'object' && value !== null) {
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
    if (isOpen && JSON.stringify(value).length > longestOpenValue) {
      const message = `must have at most this many characters as JSON: ${longestOpenValue}`;
      findings.push({ rule: `size ${longestOpenValue}`, message });
    }
    limit('maxProperties', (bound) => Object.keys(value).length <= bound, 'must have at most this many entries:');
  }
  return findings;
}
