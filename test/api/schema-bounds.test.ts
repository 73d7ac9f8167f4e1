/**
 * Every list, map and text of every kind has a bound, so that the API server can store every resource that the schema accepts. The test finds
 * kinds and fields by itself.
 */
import { describe, expect, it } from 'vitest';
import { longestOpenValue } from '../../src/api/bounds.ts';
import { celViolations } from '../../src/api/cel.ts';
import { schedulingSchema } from '../../src/api/scheduling.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { handlers } from '../support/handlers.ts';

/** Of a date: what else has a format is a number. */
const dateLength = 40;
/** Of a key of a map: the prefix of a label, a slash and its name. */
const longestKey = 317;

const isOpen = (schema: StructuralSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;
const isTextOrNumber = (schema: StructuralSchema): boolean => schema['x-kubernetes-int-or-string'] === true;
const isText = (schema: StructuralSchema): boolean => schema.type === 'string' || isTextOrNumber(schema);

/** What has no bound, as `path: what`. `isWritten`: by a person, who chooses the keys of maps. */
function unbounded(path: string, schema: StructuralSchema, isWritten: boolean): string[] {
  const { type, properties = {}, items, additionalProperties, maxItems, maxProperties, maxLength } = schema;
  const isMap = additionalProperties !== undefined || isOpen(schema);
  const lacks: [boolean, string][] = [
    [type === 'array' && maxItems === undefined, 'a list without maxItems'],
    [isMap && maxProperties === undefined, 'a map without maxProperties'],
    [isWritten && additionalProperties !== undefined && takesAnyKey(schema), 'a map with keys of any length'],
    [isText(schema) && maxLength === undefined && schema.enum === undefined && schema.format === undefined, 'a text'],
    [type === 'integer' && isWritten && schema.enum === undefined && !isRange(schema), 'a number without two ends'],
  ];
  return [
    ...lacks.flatMap(([isLacking, what]) => (isLacking ? [`${path}: ${what}`] : [])),
    ...Object.entries(properties).flatMap(([name, child]) => unbounded(`${path}.${name}`, child, isWritten)),
    ...(items === undefined ? [] : unbounded(`${path}[]`, items, isWritten)),
    ...(additionalProperties === undefined ? [] : unbounded(`${path}.*`, additionalProperties, isWritten)),
  ];
}

function isRange({ minimum, maximum }: StructuralSchema): boolean {
  return minimum !== undefined && maximum !== undefined;
}

function takesAnyKey(schema: StructuralSchema): boolean {
  return celViolations(schema, { ['a'.repeat(longestKey + 1)]: '' }).length === 0;
}

/** Characters of the longest value as JSON; of texts alone and their names, which is all but a few. */
function longest(schema: StructuralSchema): number {
  const { type, properties = {}, items, additionalProperties, maxItems = 0, maxProperties = 0 } = schema;
  if (isOpen(schema)) return longestOpenValue;
  if (isText(schema)) {
    const choices = (schema.enum ?? []).map((choice) => String(choice).length);
    return 2 + (schema.maxLength ?? Math.max(dateLength, ...choices));
  }
  if (type === 'array') return 2 + maxItems * (1 + longest(items ?? {}));
  if (type !== 'object') return 24;
  const named = Object.entries(properties).map(([name, child]) => name.length + 4 + longest(child));
  const others =
    additionalProperties === undefined ? 0 : maxProperties * (longestKey + 4 + longest(additionalProperties));
  return named.reduce((sum, each) => sum + each, 2 + others);
}

const etcdLimit = 1.5 * 1024 * 1024;

describe.each(handlers)('$name', ({ kind }) => {
  const { spec = {}, status = {} } = kind.schema.properties ?? {};

  it('has a bound on everything in its spec and in its status', () => {
    expect([...unbounded('spec', spec, true), ...unbounded('status', status, false)]).toEqual([]);
  });

  it('fits into etcd, however long each of its fields is', () => {
    expect(longest(spec) + longest(status)).toBeLessThan(etcdLimit);
  });
});

it.each<readonly [fault: string, schema: StructuralSchema]>([
  ['a list without maxItems', { type: 'array', items: { type: 'boolean' } }],
  ['a map without maxProperties', { type: 'object', additionalProperties: { type: 'boolean' } }],
  ['a map without maxProperties', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
  ['a map with keys of any length', { type: 'object', maxProperties: 1, additionalProperties: { type: 'boolean' } }],
  ['a text', { type: 'string', pattern: '^a*$' }],
  ['a text', { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }],
  ['a number without two ends', { type: 'integer', minimum: 0 }],
])('finds %s', (fault, schema) => {
  expect(unbounded('a', { type: 'object', properties: { b: schema } }, true)).toContain(`a.b: ${fault}`);
});

it('an affinity that was valid before it had a bound on its fields is valid', () => {
  const terms = {
    requiredDuringSchedulingIgnoredDuringExecution: [],
    preferredDuringSchedulingIgnoredDuringExecution: [],
  };
  const affinity = Object.fromEntries(
    Object.keys(schedulingSchema.properties.affinity.properties).map((name) => [name, terms]),
  );
  for (const { kind } of handlers.filter(({ backup }) => backup !== undefined)) {
    const { group, version } = kind.resource;
    const object = { apiVersion: `${group}/${version}`, kind: kind.resource.kind, metadata: { name: 'a' } };
    expect(validateCluster(kind, { ...object, spec: { scheduling: { affinity } } }).ok).toBe(true);
  }
});
