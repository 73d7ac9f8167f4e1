/**
 * Root directories with a PostgreSQL of several versions, for tests that run real servers: unpacked from layers in the
 * sandbox's cache, once. Versions whose layer was never made are left out.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type LayerRecipe, recipeKey } from '../../src/sandbox/images/recipe.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

export interface PostgresProgram {
  /** Its programs are in `/usr/lib/postgresql/MAJOR/bin` below it. */
  readonly root: string;
  readonly major: number;
}

const layers: Readonly<Record<string, LayerRecipe>> = {
  15: { kind: 'debian', suite: 'bookworm', packages: ['postgresql-15'] },
  17: { kind: 'debian', suite: 'trixie', packages: ['postgresql-17'] },
  18: { kind: 'debian', suite: 'forky', packages: ['postgresql-18'] },
};

const { cache } = layoutOf(process.env);

function rootOf(major: string, layer: LayerRecipe): string | undefined {
  const key = recipeKey(layer);
  const archive = join(cache, 'layers', `${key}.tar`);
  const root = join(cache, 'test-programs', `postgres-${major}-${key}`);
  if (existsSync(root)) return root;
  if (!existsSync(archive)) return undefined;
  mkdirSync(join(cache, 'test-programs'), { recursive: true });
  const temporary = mkdtempSync(join(cache, 'test-programs', 'unpacking-'));
  execFileSync('tar', ['-xf', archive, '-C', temporary]);
  execFileSync('chmod', ['755', temporary]);
  try {
    renameSync(temporary, root);
  } catch {
    // Another test's process was faster.
    rmSync(temporary, { recursive: true });
  }
  return root;
}

/** By version: `15`, `17`, `18`. Empty for whoever is not root: the programs run in their directory, as another user. */
export const postgresPrograms: ReadonlyMap<string, PostgresProgram> = new Map(
  Object.entries(layers).flatMap(([major, layer]): [string, PostgresProgram][] => {
    const root = process.getuid?.() === 0 ? rootOf(major, layer) : undefined;
    return root === undefined ? [] : [[major, { root, major: Number(major) }]];
  }),
);
