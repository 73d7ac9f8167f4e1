/** The image that a spec can name, with a tag or a digest, and the registry that default images come from. */
import type { StructuralSchema } from './schema.ts';

const imageName = '[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*';
const imageTag = ':[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const imageDigest = '@sha256:[a-f0-9]{64}';

export const imagePattern = `^${imageName}(${imageTag}(${imageDigest})?|${imageDigest})$`;

/** `fallback` is what runs where none is named. */
export const imageSchema = <const Fallback extends string>(fallback: Fallback) =>
  ({
    type: 'string',
    description: `Image to run instead of ${fallback}, with a tag or a digest.`,
    pattern: imagePattern,
    maxLength: 500,
  }) as const satisfies StructuralSchema;

const domainLabel = '[a-z0-9]+(-+[a-z0-9]+)*';
const port = ':[0-9]{1,5}';

/** A registry and a path in it. A first part without a dot and a port is none: container runtimes take it for a path at docker.io. */
export const imageRegistryPattern = `^(localhost(${port})?|${domainLabel}((\\.${domainLabel})+(${port})?|${port}))(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`;

const registryMaxLength = 200;

/** In words; undefined where it may be one. */
export function imageRegistryFault(registry: string): string | undefined {
  return registry.length <= registryMaxLength && new RegExp(imageRegistryPattern).test(registry)
    ? undefined
    : `must be a registry, with a path where it has one, such as registry.example/mirror, of at most ${registryMaxLength} characters`;
}

/** The same image at another registry: `docker.io/library/redis:8.0` is `REGISTRY/library/redis:8.0`. */
export function inRegistry(image: string, registry: string | undefined): string {
  return registry === undefined ? image : `${registry}/${image.replace(/^(localhost|[^/]*[.:][^/]*)\//, '')}`;
}
