/**
 * Images in the cache: made when they are first asked for, found by their recipe afterwards.
 */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ImageRecipe, LayerRecipe } from '../../engine/image-recipe.ts';
import { missingPrograms } from '../binaries.ts';
import { compileMissing } from '../compile.ts';
import { codeOf, SandboxError } from '../error.ts';
import { isThere } from '../file.ts';
import type { Layout } from '../layout.ts';
import { architecture } from '../machine.ts';
import { installMissing, packages } from '../packages.ts';
import type { Progress, Step } from '../progress.ts';
import { type Image, type Layer, writeArchive } from './archive.ts';
import { baseImages, busyboxLayer } from './base.ts';
import { buildLayer, removeLayer } from './layers.ts';
import { imageReference, recipeKey } from './recipe.ts';
import { findRecipe, operatorImage, operatorRecipe, ownImages } from './recipes.ts';

/** The recipe of a name, also of one of `images`; the operator's takes the bundle from a file, and the backup agent's from beside it. */
export async function recipeOf(
  name: string,
  bundle: string,
  images: readonly ImageRecipe[] = [],
): Promise<ImageRecipe> {
  if (name !== operatorImage) return findRecipe(name, images);
  return operatorRecipe(await readBundle(bundle), await readBundle(join(dirname(bundle), 'agent.mjs')));
}

async function readBundle(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new SandboxError(`the operator's image needs its bundle, and there is no ${path}: build it first`, { cause });
  }
}

/** Makes an image unless the cache has it; returns the path of its archive. */
export async function buildRecipe(layout: Layout, recipe: ImageRecipe, progress: Progress): Promise<string> {
  const target = archivePath(layout, recipe);
  if (await isThere(target)) return target;
  await installMissing(packages.images, progress);
  const programs = recipe.layers.flatMap((layer) => (layer.kind === 'program' ? [layer.program] : []));
  await compileMissing(layout, await missingPrograms(layout, programs), progress);
  await progress.step(`Building the image ${recipe.name}`, async (step) => {
    const layers = await buildLayers(layout, recipe.layers, step);
    const references = [imageReference(recipe.name), ...(recipe.standsInFor ?? [])];
    const images: Image[] = references.map((reference) => ({ reference, layers, config: recipe.config }));
    await mkdir(join(layout.cache, 'images'), { recursive: true });
    await writeArchive(images, target, architecture().image);
    // What was at hand is so again; only what took work is kept.
    for (const [index, layer] of layers.entries()) {
      if (recipe.layers[index]?.kind === 'files') await removeLayer(layer);
    }
  });
  await removeOthers(layout, recipe, target);
  return target;
}

async function buildLayers(layout: Layout, wanted: readonly LayerRecipe[], step: Step): Promise<readonly Layer[]> {
  const layers: Layer[] = [];
  for (const layer of wanted) layers.push(await buildLayer(layout, layer, (detail) => step.report(detail)));
  return layers;
}

/** The archive with the images that every node needs. */
export async function buildBaseArchive(layout: Layout): Promise<string> {
  const target = join(layout.cache, 'images', `base-${recipeKey(busyboxLayer)}.tar`);
  if (await isThere(target)) return target;
  const layers = [await buildLayer(layout, busyboxLayer, () => undefined)];
  await mkdir(join(layout.cache, 'images'), { recursive: true });
  await writeArchive(
    baseImages.map((image) => ({ ...image, layers })),
    target,
    architecture().image,
  );
  return target;
}

function archivePath(layout: Layout, recipe: ImageRecipe): string {
  return join(layout.cache, 'images', `${fileName(recipe.name)}-${recipeKey(recipe)}.tar`);
}

function fileName(name: string): string {
  return name.replace(':', '-');
}

/** The archives of the recipe's earlier contents. */
async function removeOthers(layout: Layout, recipe: ImageRecipe, kept: string): Promise<void> {
  const directory = join(layout.cache, 'images');
  const own = new RegExp(`^${fileName(recipe.name).replace(/[.]/g, '\\.')}-[0-9a-f]{16}\\.tar$`);
  for (const name of await readdir(directory)) {
    if (own.test(name) && join(directory, name) !== kept) await rm(join(directory, name), { force: true });
  }
}

export interface ImageListing {
  readonly name: string;
  readonly reference: string;
  /** Bytes of the archive, or undefined when it is yet to be made. */
  readonly size: number | undefined;
}

/** The images that there are recipes for. */
export async function listImages(layout: Layout, images: readonly ImageRecipe[]): Promise<readonly ImageListing[]> {
  const listed = [...images, ...ownImages].map(async (recipe) => {
    const path = archivePath(layout, recipe);
    const size = (await isThere(path)) ? (await stat(path)).size : undefined;
    return { name: recipe.name, reference: imageReference(recipe.name), size };
  });
  return await Promise.all(listed);
}
