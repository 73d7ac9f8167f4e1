/** Bundles of the harness around a mutated controller. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Edit, Mutant } from './mutant.ts';

export class StaleMutant extends Error {
  override readonly name = 'StaleMutant';
}

/** @throws StaleMutant when a text to replace is not there exactly once. */
export function mutated(id: string, edits: readonly Edit[], text: string): string {
  let result = text;
  for (const { file, find, replace } of edits) {
    const parts = result.split(find);
    if (parts.length !== 2) {
      throw new StaleMutant(`mutant ${id}: its text is ${parts.length - 1} times in src/${file}, not once`);
    }
    result = parts.join(replace);
  }
  return result;
}

/** Writes the bundle to `outfile`. `root` is the project's folder. */
export async function buildMutant(mutant: Mutant, root: string, outfile: string): Promise<void> {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [join(root, 'test/faults/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    outfile,
    external: ['esbuild'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'mutant',
        setup(plugin) {
          const missing = new Set(mutant.edits.map(({ file }) => file));
          plugin.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            const file = relative(join(root, 'src'), path);
            const edits = mutant.edits.filter((edit) => edit.file === file);
            if (edits.length === 0) return undefined;
            missing.delete(file);
            return { contents: mutated(mutant.id, edits, await readFile(path, 'utf8')), loader: 'ts' };
          });
          plugin.onEnd(() => {
            for (const file of missing) {
              throw new StaleMutant(`mutant ${mutant.id}: src/${file} is not part of the controller`);
            }
          });
        },
      },
    ],
  });
}
