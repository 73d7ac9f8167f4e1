/**
 * A value of another type than a schema wants, in words: what is wanted and what was found.
 *
 * A text is repeated only where a number or a boolean belongs. Where an object belongs it may be anything, a password
 * included, and these words reach conditions and logs.
 */
import type { StructuralSchema } from './schema.ts';

export type Wanted = NonNullable<StructuralSchema['type']> | 'integer or string';

const names = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  'integer or string': 'an integer or a string',
} as const satisfies Readonly<Record<Wanted, string>>;

/** `must be a string, and is the number 8: in YAML it takes quotes` */
export function typeMessage(wanted: Wanted, value: unknown): string {
  const isBare = typeof value === 'number' || typeof value === 'boolean';
  const advice = wanted === 'string' && isBare ? ': in YAML it takes quotes' : '';
  return `must be ${names[wanted]}, and is ${found(wanted, value)}${advice}`;
}

/** In characters. */
const longest = 40;

function found(wanted: Wanted, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return names.array;
  switch (typeof value) {
    case 'number':
    case 'boolean':
      return `the ${typeof value} ${value}`;
    case 'string': {
      const isShown = wanted !== 'object' && wanted !== 'array' && value.length <= longest;
      return isShown ? `the string ${JSON.stringify(value)}` : names.string;
    }
    default:
      return names.object;
  }
}
