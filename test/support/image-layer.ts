/** Programs of the sandbox's images, for tests that run them outside of containers: unpacked from the first layer in the cache, once. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { redisImages } from '../../src/engines/redis/images.ts';
import { recipeKey } from '../../src/sandbox/images/recipe.ts';
import { findRecipe } from '../../src/sandbox/images/recipes.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

const { cache } = layoutOf(process.env);

/** The root of the files; undefined where this image of Redis was never made. */
export function unpackedImage(name: string): string | undefined {
  const [layer] = findRecipe(name, redisImages).layers;
  if (layer === undefined) return undefined;
  const key = recipeKey(layer);
  const archive = join(cache, 'layers', `${key}.tar`);
  const root = join(cache, 'test-programs', `${name.replace(':', '-')}-${key}`);
  if (existsSync(root)) return root;
  if (!existsSync(archive)) return undefined;
  mkdirSync(join(cache, 'test-programs'), { recursive: true });
  const temporary = mkdtempSync(join(cache, 'test-programs', 'unpacking-'));
  execFileSync('tar', ['-xf', archive, '-C', temporary]);
  try {
    renameSync(temporary, root);
  } catch {
    // Another test's process was faster.
    rmSync(temporary, { recursive: true });
  }
  return root;
}
