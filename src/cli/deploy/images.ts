/** Which images the sandbox has to have: the operator's, and those of the samples' pods. */
import type { KubeObject } from '../../api/object.ts';
import { validateCluster } from '../../api/validate.ts';
import type { KindHandler } from '../../engine/engine.ts';
import type { ImageRecipe } from '../../engine/image-recipe.ts';

/** Images of all containers of the clusters' pods, each once. The clusters must be valid. */
export function imagesOf(engines: readonly KindHandler[], clusters: readonly KubeObject[]): string[] {
  const images = clusters.flatMap((object) => {
    const engine = engines.find(({ kind }) => kind.resource.kind === object.kind);
    const verdict = engine === undefined ? undefined : validateCluster(engine.kind, object);
    if (engine === undefined || verdict?.ok !== true) return [];
    return engine.resources(verdict.cluster).flatMap(({ object: child }) => imagesIn(child));
  });
  return [...new Set(images)];
}

interface Workload {
  readonly template?: {
    readonly spec: { readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[] };
  };
}

interface Container {
  readonly image: string;
}

function imagesIn(object: KubeObject): string[] {
  const template = (object.spec as Workload | undefined)?.template;
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  return [...initContainers, ...containers].map(({ image }) => image);
}

/** The recipe that stands in for an image; else its name without the registry, as recipes are called: `redis:8.0`. */
export function recipeName(image: string, recipes: readonly ImageRecipe[]): string {
  // As a node reads it: without a registry, it is of this one.
  const full = image.includes('/') ? image : `docker.io/library/${image}`;
  const stand = recipes.find(({ standsInFor = [] }) => standsInFor.includes(image) || standsInFor.includes(full));
  return stand?.name ?? image.slice(image.lastIndexOf('/') + 1);
}
