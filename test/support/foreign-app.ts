/** An app of somebody else: the package as it is published, beside the engine of `test/package/memcached`. Nothing comes from the network. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);

export interface ForeignApp {
  readonly directory: string;
  /** Its operator in one file. */
  readonly operator: string;
  /** The manifests of `main.ts`, by path. */
  readonly manifests: string;
}

/** The package is built before: `npm run build`. */
export async function buildForeignApp(): Promise<ForeignApp> {
  const directory = await mkdtemp(join(tmpdir(), 'clusterwright-foreign-'));
  await installPackage(directory);
  await cp('test/package/memcached', join(directory, 'memcached'), { recursive: true });
  await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, skipLibCheck: true, types: ['node'] };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  await run(resolve('node_modules/.bin/tsc'), ['-p', '.'], { cwd: directory });
  const manifests = join(directory, 'dist');
  const env = { ...process.env, CDK8S_OUTDIR: manifests };
  await run(process.execPath, ['memcached/main.js'], { cwd: directory, env });
  const operator = join(directory, 'operator.mjs');
  await build({
    entryPoints: [join(directory, 'memcached/operator.js')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    outfile: operator,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'silent',
  });
  return { directory, operator, manifests };
}

async function installPackage(directory: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]);
  const [packed] = JSON.parse(stdout) as { readonly filename: string }[];
  if (packed === undefined) throw new Error('npm pack made nothing');
  const installed = join(directory, 'node_modules/clusterwright');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(directory, packed.filename), '--strip-components=1', '-C', installed]);
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8')) as { readonly dependencies: object };
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    const place = join(directory, 'node_modules', name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(resolve('node_modules', name), place);
  }
}
