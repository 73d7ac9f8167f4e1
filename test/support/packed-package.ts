/**
 * The package as it is published, in an app of somebody else: the tarball is unpacked where npm would put it, the
 * dependencies are those of this checkout, and nothing comes from the network.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

export function runIn(cwd: string, command: string, arguments_: readonly string[], env = process.env): string {
  return execFileSync(command, arguments_, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export const tsc = resolve('node_modules/.bin/tsc');

/** With the packages of `test/package` in folders of the same names. What is packed is what was compiled last. */
export function createApp(app: string): Packed {
  mkdirSync(app, { recursive: true });
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', app];
  const [packed] = JSON.parse(runIn(process.cwd(), 'npm', pack)) as Packed[];
  if (packed === undefined) throw new Error('npm pack made nothing');
  for (const name of ['memcached', 'journal']) {
    cpSync(join('test/package', name), join(app, name), { recursive: true });
  }
  const installed = join(app, 'node_modules', 'clusterwright');
  mkdirSync(installed, { recursive: true });
  runIn(app, 'tar', ['-xzf', packed.filename, '--strip-components=1', '-C', installed]);
  // What docs/engines/adding.md tells to install for TypeScript and for the bundle of an agent.
  linkDependencies(app, ['@aws-sdk/client-s3', '@smithy/node-http-handler']);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, skipLibCheck: true, types: ['node'] };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  return packed;
}

/** Those of the package, and `others`, from this checkout. */
function linkDependencies(app: string, others: readonly string[] = []): void {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly dependencies: object;
    readonly peerDependencies: object;
  };
  for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), ...others]) {
    const place = join(app, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(resolve('node_modules', name), place);
  }
}

/** The package as this checkout would compile it now. `build/` is left alone: other tests may use it at the same time. */
export function compileInto(app: string): void {
  const installed = join(app, 'node_modules', 'clusterwright');
  mkdirSync(installed, { recursive: true });
  runIn(process.cwd(), tsc, ['-p', 'tsconfig.build.json', '--outDir', join(installed, 'build')]);
  cpSync('package.json', join(installed, 'package.json'));
  linkDependencies(app);
}

/** By the command that docs/engines/adding.md tells; writes `controller.mjs` into `folder`. */
export function bundleOperator(folder: string): string {
  return bundle(folder, 'operator.js', 'controller.mjs');
}

/** As above; writes `agent.mjs`. */
export function bundleAgent(folder: string): string {
  return bundle(folder, 'agent.js', 'agent.mjs');
}

function bundle(folder: string, entry: string, output: string): string {
  const commands = [...readFileSync('docs/engines/adding.md', 'utf8').matchAll(/```\n(esbuild [^`]+)```/g)];
  const command = commands.map(([, text = '']) => text).find((text) => text.startsWith(`esbuild ${entry} `));
  if (command === undefined) throw new Error(`docs/engines/adding.md does not say how ${entry} is bundled`);
  const path = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
  runIn(folder, 'sh', ['-c', command], { ...process.env, PATH: path });
  return join(folder, output);
}
