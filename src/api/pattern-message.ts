/**
 * What a value that does not match is told, for the patterns that people meet most. The pattern itself is the rule and
 * stays beside the words; the API server, which takes no words for a pattern, shows it alone.
 */
import { durationPattern } from './duration.ts';
import { namePattern } from './metadata.ts';
import { quantityPattern } from './quantity.ts';

const words: ReadonlyMap<string, string> = new Map([
  [
    quantityPattern,
    'must be a quantity such as 500m, 2 or 10Gi: a number and one of m, k, M, G, T, Ki, Mi, Gi and Ti, or none',
  ],
  [durationPattern, 'must be a duration such as 500ms, 3s or 2m: a whole number and one of ms, s and m'],
  [namePattern, 'must be lower-case letters, digits and dashes, with a letter first and no dash last'],
]);

export function patternMessage(pattern: string): string {
  return words.get(pattern) ?? `must match ${pattern}`;
}
