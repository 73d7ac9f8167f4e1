/**
 * The rules of a structural schema (apiextensions.k8s.io/v1) that the TypeScript type cannot say, checked independently of
 * the API server, so that a broken schema is found without one.
 */
import type { StructuralSchema } from '../../src/api/schema.ts';

/** Keywords that the API server forbids, or that mean nothing outside of its dialect. */
const known = new Set([
  'type',
  'description',
  'default',
  'properties',
  'additionalProperties',
  'required',
  'items',
  'enum',
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'anyOf',
  'nullable',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
]);

/** Every breach, as `path: what`. */
export function structuralFaults(schema: StructuralSchema, path = ''): string[] {
  const faults: string[] = [];
  const fault = (what: string): void => {
    faults.push(`${path === '' ? '(root)' : path}: ${what}`);
  };
  for (const keyword of Object.keys(schema)) if (!known.has(keyword)) fault(`keyword ${keyword}`);

  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  if (isIntOrString === (schema.type !== undefined)) fault('a type, or int-or-string, and not both');
  if (isIntOrString !== (schema.anyOf !== undefined)) fault('anyOf belongs to int-or-string and nothing else');
  if (path === '' && schema.type !== 'object') fault('the root is an object');
  if (schema.description === undefined && path !== '.metadata') fault('no description');

  const isObject = schema.type === 'object';
  if (!isObject && (schema.properties ?? schema.additionalProperties ?? schema.required) !== undefined) {
    fault('properties of something that is no object');
  }
  if (schema.properties !== undefined && schema.additionalProperties !== undefined) {
    fault('properties and additionalProperties exclude each other');
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isObject && !isOpen && schema.properties === undefined && schema.additionalProperties === undefined) {
    fault('an object of nothing');
  }
  for (const name of schema.required ?? []) {
    if (schema.properties?.[name] === undefined) fault(`required ${name} is no property`);
    else if (schema.properties[name].default !== undefined) fault(`required ${name} has a default`);
  }
  if (schema.additionalProperties !== undefined && schema.maxProperties === undefined) fault('a map without a bound');

  if ((schema.type === 'array') !== (schema.items !== undefined)) fault('items belong to an array');
  if (schema.type === 'array') {
    const listType = schema['x-kubernetes-list-type'];
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    if (schema.maxItems === undefined) fault('a list without a bound');
    if (listType === undefined) fault('a list without a list type');
    if ((listType === 'map') !== keys.length > 0) fault('map keys belong to a list of type map');
    for (const key of keys) {
      const isRequired = schema.items?.required?.includes(key) === true;
      const type = schema.items?.properties?.[key]?.type;
      if (!isRequired || type === undefined || type === 'object' || type === 'array') fault(`map key ${key}`);
    }
  }
  if (
    schema.type === 'string' &&
    schema.enum === undefined &&
    schema.format === undefined &&
    schema.maxLength === undefined
  ) {
    fault('a string without a bound');
  }
  if (schema.type === 'integer' && schema.enum === undefined && schema.minimum === undefined) {
    fault('an integer without a bound');
  }
  if (schema.pattern !== undefined && !(schema.pattern.startsWith('^') && schema.pattern.endsWith('$'))) {
    fault('a pattern that is not anchored');
  }
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    if (rule.message === '' || rule.message.includes('\n')) fault('a rule without a one-line message');
  }

  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    faults.push(...structuralFaults(child, `${path}.${name}`));
  }
  if (schema.additionalProperties !== undefined)
    faults.push(...structuralFaults(schema.additionalProperties, `${path}[*]`));
  if (schema.items !== undefined) faults.push(...structuralFaults(schema.items, `${path}[]`));
  return faults;
}
