/** JSON objects whose fields are not known to the type checker. Values are never changed in place, so they may be shared. */
import type { Fields } from '../../../src/testing/fields.ts';

export { type Fields, fieldsIn, isFields, itemsIn } from '../../../src/testing/fields.ts';

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const numberIn = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

/** Equal as JSON, whatever the order of fields. A field that is undefined is a field that is not there. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => equal(item, b[at]));
  }
  if (Array.isArray(b)) return false;
  const [left, right] = [a as Fields, b as Fields];
  for (const key in left) if (!equal(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** The object without some of its fields; the object itself where it has none of them. */
export function without(object: Fields, names: readonly string[]): Fields {
  if (!names.some((name) => name in object)) return object;
  const rest: Record<string, unknown> = { ...object };
  for (const name of names) delete rest[name];
  return rest;
}
