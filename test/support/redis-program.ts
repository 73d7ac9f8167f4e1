/**
 * The redis-server programs of the sandbox's images, for tests that run several versions: unpacked from the layers in the
 * cache, once, and started by the loader that came with them. Versions whose image was never made are left out.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { redisImages } from '../../src/engines/redis/images.ts';
import { recipeKey } from '../../src/sandbox/images/recipe.ts';
import { findRecipe } from '../../src/sandbox/images/recipes.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

/** Command and first arguments of a server; its configuration file follows. */
export type RedisProgram = readonly [string, ...string[]];

const { cache } = layoutOf(process.env);
const libraries = [
  'usr/lib/x86_64-linux-gnu',
  'lib/x86_64-linux-gnu',
  'usr/lib/aarch64-linux-gnu',
  'lib/aarch64-linux-gnu',
];
const loaders = ['lib64/ld-linux-x86-64.so.2', 'usr/lib64/ld-linux-x86-64.so.2', 'lib/ld-linux-aarch64.so.1'];

function unpacked(version: string): string | undefined {
  const [layer] = findRecipe(`redis:${version}`, redisImages).layers;
  if (layer === undefined) return undefined;
  const key = recipeKey(layer);
  const archive = join(cache, 'layers', `${key}.tar`);
  const root = join(cache, 'test-programs', `redis-${version}-${key}`);
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

function programOf(version: string): RedisProgram | undefined {
  const root = unpacked(version);
  const loader = loaders.map((name) => join(root ?? '', name)).find((path) => root !== undefined && existsSync(path));
  if (root === undefined || loader === undefined) return undefined;
  const path = libraries.map((name) => join(root, name)).join(':');
  return [loader, '--library-path', path, join(root, 'usr/bin/redis-server')];
}

/** By version: `7.0`, `8.0`. */
export const redisPrograms: ReadonlyMap<string, RedisProgram> = new Map(
  ['7.0', '8.0'].flatMap((version): [string, RedisProgram][] => {
    const program = programOf(version);
    return program === undefined ? [] : [[version, program]];
  }),
);
