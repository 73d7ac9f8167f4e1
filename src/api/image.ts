/** The image of a database: by tag or digest, so that what runs is said. */
import type { StructuralSchema } from './schema.ts';

const imageName = '[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*';
const imageTag = ':[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const imageDigest = '@sha256:[a-f0-9]{64}';

/** `fallback` is what runs where none is named. */
export const imageSchema = <const Fallback extends string>(fallback: Fallback) =>
  ({
    type: 'string',
    description: `Image to run instead of ${fallback}, with a tag or a digest.`,
    pattern: `^${imageName}(${imageTag}(${imageDigest})?|${imageDigest})$`,
    maxLength: 500,
  }) as const satisfies StructuralSchema;
