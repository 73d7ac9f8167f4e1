/**
 * Bounds on what comes from outside. A database's answer, an image's output and a user's free-form field may be of any
 * length; what is kept of them is not.
 */
import { schemaOfKey } from './prune.ts';
import type { StructuralSchema } from './schema.ts';

/** Longest answer of a database process that is read, in bytes. A member list or `INFO` is a few kilobytes. */
export const longestAnswerBytes = 64 * 1024;

/** Longest answer of which only some lines are kept, in bytes. The metrics of an etcd member take 170 KiB. */
export const longestPickedBytes = 1024 * 1024;

/** Longest message of a foreign component that is passed on, in characters. */
export const longestMessage = 1024;

/** Longest value of a field whose form the schema leaves open, in characters of its JSON. */
export const longestOpenValue = 16 * 1024;

/** The text, or its beginning and an ellipsis. `limit` in UTF-16 units, of which a character may take two. */
export function shortened(text: string, limit: number = longestMessage): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * The value with every text cut to its `maxLength` and every list to its `maxItems`: the API server refuses a status
 * that breaks them as a whole, and then nobody learns anything.
 */
export function fitted(schema: StructuralSchema, value: unknown): unknown {
  if (typeof value === 'string') {
    return schema.maxLength === undefined ? value : shortened(value, schema.maxLength);
  }
  if (Array.isArray(value)) {
    const { items, maxItems = value.length } = schema;
    const kept = value.slice(0, maxItems);
    return items === undefined ? kept : kept.map((item) => fitted(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]): [string, unknown] => {
      const childSchema = schemaOfKey(schema, key);
      return [key, childSchema === undefined ? child : fitted(childSchema, child)];
    }),
  );
}
