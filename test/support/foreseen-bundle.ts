/** The controller's bundle with O13 in it: built as the one that ships, with one import led elsewhere. */
import { join } from 'node:path';

/** Writes the bundle to `outfile`. `root` is the project's folder. */
export async function bundleForeseen(root: string, outfile: string): Promise<void> {
  const { build } = await import('esbuild');
  let isLed = false;
  await build({
    entryPoints: [join(root, 'src/controller.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    minify: true,
    outfile,
    external: ['esbuild'],
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'foresight',
        setup(plugin) {
          plugin.onResolve({ filter: /^\.\/operator\.ts$/ }, ({ importer }) => {
            if (importer !== join(root, 'src/runtime/process.ts')) return undefined;
            isLed = true;
            return { path: join(root, 'test/support/foreseen-operator.ts') };
          });
        },
      },
    ],
  });
  if (!isLed) throw new Error('the operator of the bundle is not made where it was: O13 would see nothing');
}
