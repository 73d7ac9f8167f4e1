/**
 * What a value that does not match is told, for the patterns that people meet most. The pattern itself is the rule and
 * stays beside the words; the API server, which takes no words for a pattern, shows it alone.
 */
import { agePattern } from './backup-schedule.ts';
import { bucketPattern, endpointPattern } from './backup-target.ts';
import { durationPattern } from './duration.ts';
import { addressRange } from './external-service.ts';
import { imagePattern } from './image.ts';
import { namePattern, objectNamePattern } from './metadata.ts';
import { quantityPattern } from './quantity.ts';

const words: ReadonlyMap<string, string> = new Map([
  [
    quantityPattern,
    'must be a quantity such as 500m, 2 or 10Gi: a number and one of m, k, M, G, T, Ki, Mi, Gi and Ti, or none',
  ],
  [durationPattern, 'must be a duration such as 500ms, 3s or 2m: a whole number and one of ms, s and m'],
  [namePattern, 'must be lower-case letters, digits and dashes, with a letter first and no dash last'],
  [objectNamePattern, 'must be lower-case letters, digits, dashes and dots, with a letter or digit first and last'],
  [imagePattern, 'must be an image with a tag or a digest, such as registry.example/path/name:1.0'],
  [endpointPattern, 'must be a URL without a path, such as https://s3.example.com or http://minio.storage.svc:9000'],
  [bucketPattern, 'must be the name of a bucket: lower-case letters, digits, dashes and dots'],
  [agePattern, 'must be hours or days, such as 36h or 30d'],
  [addressRange, 'must be a range of addresses, such as 10.0.0.0/8'],
]);

export function patternMessage(pattern: string): string {
  return words.get(pattern) ?? `must match ${pattern}`;
}
