/**
 * What the API server does to an object before it fills in defaults: unknown fields go, and so do nulls.
 *
 * A null in an object is as good as absent, unless the schema says `nullable`. There it stays for a rule to refuse, and in a list as a
 * value of the wrong type. The input is never changed.
 */
import type { StructuralSchema } from './schema.ts';
import type { Path } from './violation.ts';

/** The part of the schema that a key of an object falls under; undefined where the schema does not know it. */
export function schemaOfKey(schema: StructuralSchema, key: string): StructuralSchema | undefined {
  const { properties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return schema.additionalProperties;
}

export interface Pruned {
  readonly value: unknown;
  /** Paths of the fields that were dropped because the schema does not know them. */
  readonly unknown: readonly Path[];
}

export function prune(schema: StructuralSchema, value: unknown, path: Path = []): Pruned {
  const unknown: Path[] = [];

  const visit = (node: StructuralSchema, input: unknown, at: Path): unknown => {
    if (Array.isArray(input)) {
      const { items } = node;
      return items === undefined ? structuredClone(input) : input.map((item, i) => visit(items, item, [...at, i]));
    }
    if (typeof input !== 'object' || input === null) return input;
    const keeps = node['x-kubernetes-preserve-unknown-fields'] === true;
    // fromEntries defines each key as its own property, so that not even `__proto__` reaches a prototype.
    return Object.fromEntries(
      Object.entries(input).flatMap(([key, child]): [string, unknown][] => {
        const childSchema = schemaOfKey(node, key);
        if (childSchema === undefined) {
          if (keeps) return [[key, structuredClone(child)]];
          unknown.push([...at, key]);
          return [];
        }
        if (child === null) return childSchema.nullable === true ? [[key, null]] : [];
        return [[key, visit(childSchema, child, [...at, key])]];
      }),
    );
  };

  return { value: visit(schema, value, path), unknown };
}
