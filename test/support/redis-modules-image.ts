/** Redis 7.0 with a module: search, the only one that Debian has packaged. */
import type { ImageRecipe } from '../../src/engine/image-recipe.ts';
import { redisImages } from '../../src/engines/redis/images.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { findRecipe } from '../../src/sandbox/images/recipes.ts';
import { createProgress } from '../../src/sandbox/progress.ts';
import { loadImages } from '../../src/sandbox/sandbox.ts';

const name = 'redis-modules:7.0';

const recipe: ImageRecipe = {
  ...findRecipe('redis:7.0', redisImages),
  name,
  standsInFor: [],
  layers: findRecipe('redis:7.0', redisImages).layers.map((layer) =>
    layer.kind === 'debian' ? { ...layer, packages: [...layer.packages, 'redis-redisearch'] } : layer,
  ),
};

/** The reference by which pods name it. */
export async function loadModulesImage(): Promise<string> {
  await loadImages([name], { recipes: [recipe] }, createProgress());
  return imageReference(name);
}
