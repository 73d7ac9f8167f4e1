/**
 * Root directories with a PostgreSQL of several versions, for tests that run real servers: unpacked from the layers of
 * the sandbox's images in the cache, once. Versions whose layers were never made are left out.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LayerRecipe } from '../../src/engine/image-recipe.ts';
import { images } from '../../src/engines/images.ts';
import { recipeKey } from '../../src/sandbox/images/recipe.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

export interface PostgresProgram {
  /** Its programs are in `/usr/lib/postgresql/MAJOR/bin` below it. */
  readonly root: string;
  readonly major: number;
}

/** Where no image has been made: a root directory of one layer does as well. */
const alone: Readonly<Record<string, LayerRecipe>> = {
  15: { kind: 'debian', suite: 'bookworm', packages: ['postgresql-15'] },
  17: { kind: 'debian', suite: 'trixie', packages: ['postgresql-17'] },
  18: { kind: 'debian', suite: 'forky', packages: ['postgresql-18'] },
};
/** One image has two servers. */
const imageOf: Readonly<Record<string, string>> = { 15: 'postgres:17', 17: 'postgres:17', 18: 'postgres:18' };

const { cache } = layoutOf(process.env);

/** The root directory of these layers, each on top of those before it; undefined where one was never made. */
function rootOf(layers: readonly LayerRecipe[]): string | undefined {
  const keys = layers.map(recipeKey);
  const root = join(cache, 'test-programs', `postgres-${keys.join('-')}`);
  if (existsSync(root)) return root;
  const archives = keys.map((key) => join(cache, 'layers', `${key}.tar`));
  if (archives.length === 0 || !archives.every((path) => existsSync(path))) return undefined;
  mkdirSync(join(cache, 'test-programs'), { recursive: true });
  const temporary = mkdtempSync(join(cache, 'test-programs', 'unpacking-'));
  for (const archive of archives) execFileSync('tar', ['-xf', archive, '-C', temporary]);
  // The servers run as another user.
  chmodSync(temporary, 0o755);
  try {
    renameSync(temporary, root);
  } catch {
    // Another test's process was faster.
    rmSync(temporary, { recursive: true });
  }
  return root;
}

function programOf(major: string, layer: LayerRecipe): PostgresProgram | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const image = images.find(({ name }) => name === imageOf[major]);
  const root = rootOf(image?.layers ?? []) ?? rootOf([layer]);
  return root === undefined ? undefined : { root, major: Number(major) };
}

/** By version: `15`, `17`, `18`. Empty for whoever is not root: the programs run in their directory, as another user. */
export const postgresPrograms: ReadonlyMap<string, PostgresProgram> = new Map(
  Object.entries(alone).flatMap(([major, layer]): [string, PostgresProgram][] => {
    const program = programOf(major, layer);
    return program === undefined ? [] : [[major, program]];
  }),
);

const isEveryVersionWanted = process.env.CLUSTERWRIGHT_ALL_VERSIONS !== undefined;

/** For tests that take minutes and hardly depend on the version: `npm test` runs them with one, `npm run test:all` with all. */
export const essentialPrograms: ReadonlyMap<string, PostgresProgram> = new Map(
  [...postgresPrograms].filter(([major]) => isEveryVersionWanted || major === '17'),
);
