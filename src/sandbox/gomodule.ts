/**
 * The module in whose context a program is compiled.
 *
 * Kubernetes' own `go.mod` replaces its staging modules by directories that a published module has not: here each is
 * replaced by its published twin, and everything else keeps the version and the checksum that Kubernetes was
 * released with. The other programs need no more than a requirement, and one of them a `main` of ours.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GoModule } from '../engine/image-recipe.ts';
import { run } from './command.ts';
import { SandboxError } from './error.ts';
import { goEnvironment } from './golang.ts';

const own = 'clusterwright.dev/sandbox';

/** Writes `go.mod`, and `go.sum` where the source brings one, into an empty directory. */
export async function writeModule(directory: string, source: GoModule, onLine: (line: string) => void): Promise<void> {
  const go = (...args: readonly string[]): Promise<string> =>
    run('go', args, { cwd: directory, env: goEnvironment, onLine });
  const found = await download(go, source);
  if (source.name === 'kubernetes') {
    await writeFile(join(directory, 'go.mod'), kubernetesModule(await readFile(found.GoMod, 'utf8'), source));
    await writeFile(join(directory, 'go.sum'), await readFile(join(found.Dir, 'go.sum'), 'utf8'));
    return;
  }
  await writeFile(join(directory, 'go.mod'), `module ${own}\n\ngo 1.25.0\n`);
  if (source.main !== undefined) await writeFile(join(directory, 'main.go'), source.main);
  await go('get', `${source.module}@${source.version}`);
}

interface Downloaded {
  readonly GoMod: string;
  readonly Dir: string;
}

async function download(go: (...args: readonly string[]) => Promise<string>, source: GoModule): Promise<Downloaded> {
  const name = `${source.module}@${source.version}`;
  const found = JSON.parse(await go('mod', 'download', '-json', name)) as Partial<Downloaded>;
  if (found.GoMod === undefined || found.Dir === undefined) throw new SandboxError(`the Go proxy has no ${name}`);
  return { GoMod: found.GoMod, Dir: found.Dir };
}

/** @param text the `go.mod` of `source`, which is Kubernetes */
export function kubernetesModule(text: string, source: GoModule): string {
  // Kubernetes 1.35.4 is published beside its libraries as 0.35.4.
  const twin = source.version.replace(/^v1\./, 'v0.');
  const replaced = text
    .replace(/^module .*$/m, `module ${own}`)
    .replace(/^(\s*)(\S+) => \.\/\S+$/gm, (_, indent: string, name: string) => `${indent}${name} => ${name} ${twin}`);
  return `${replaced}\nrequire ${source.module} ${source.version}\n`;
}
