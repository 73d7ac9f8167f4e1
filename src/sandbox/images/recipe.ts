/** What an image of a recipe is called, and the key by which the cache knows it. */
import { createHash } from 'node:crypto';
import type { ImageRecipe, LayerRecipe } from '../../engine/image-recipe.ts';

/** What a pod writes in `image`, with `imagePullPolicy: IfNotPresent`. */
export function imageReference(name: string): string {
  return `localhost/${name}`;
}

/** Changes when the code that makes layers makes them otherwise. */
const builderVersion = 1;

/** 16 hexadecimal digits that stand for the content of a recipe or a layer. */
export function recipeKey(recipe: ImageRecipe | LayerRecipe): string {
  const text = JSON.stringify([builderVersion, process.arch, recipe]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
