/** Bundles of the harness around a mutated controller. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Mutant } from './mutant.ts';

export class StaleMutant extends Error {
  override readonly name = 'StaleMutant';
}

/** @throws StaleMutant when the text to replace is not there exactly once. */
export function mutated(mutant: Mutant, text: string): string {
  const parts = text.split(mutant.find);
  if (parts.length !== 2) {
    const times = parts.length - 1;
    throw new StaleMutant(`mutant ${mutant.id}: its text is ${times} times in src/${mutant.file}, not once`);
  }
  return parts.join(mutant.replace);
}

/** Writes the bundle to `outfile`. `root` is the project's folder. */
export async function buildMutant(mutant: Mutant, root: string, outfile: string): Promise<void> {
  const { build } = await import('esbuild');
  const source = join(root, 'src', mutant.file);
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
          let found = false;
          plugin.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            if (relative(source, path) !== '') return undefined;
            found = true;
            return { contents: mutated(mutant, await readFile(path, 'utf8')), loader: 'ts' };
          });
          plugin.onEnd(() => {
            if (!found) throw new StaleMutant(`mutant ${mutant.id}: src/${mutant.file} is not part of the controller`);
          });
        },
      },
    ],
  });
}
