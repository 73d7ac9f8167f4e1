/**
 * The module in whose context a program is compiled.
 *
 * Kubernetes' own `go.mod` replaces its staging modules by directories that a published module has not: here each is
 * replaced by its published twin, and everything else keeps the version and the checksum that Kubernetes was
 * released with. The other programs need no more than a requirement.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from './binaries.ts';
import { run } from './command.ts';
import { SandboxError } from './error.ts';
import { goEnvironment } from './golang.ts';

/** Writes `go.mod`, and `go.sum` where the source brings one, into an empty directory. */
export async function writeModule(directory: string, source: Source, onLine: (line: string) => void): Promise<void> {
  if (source.name !== 'kubernetes') {
    await writeFile(join(directory, 'go.mod'), 'module clusterwright.dev/sandbox\n\ngo 1.25.0\n');
    await run('go', ['get', `${source.module}@${source.version}`], { cwd: directory, env: goEnvironment, onLine });
    return;
  }
  const answer = await run('go', ['mod', 'download', '-json', `${source.module}@${source.version}`], {
    cwd: directory,
    env: goEnvironment,
    onLine,
  });
  const found = JSON.parse(answer) as { readonly GoMod?: string; readonly Dir?: string };
  if (found.GoMod === undefined || found.Dir === undefined) {
    throw new SandboxError(`the Go proxy has no ${source.module}@${source.version}`);
  }
  await writeFile(join(directory, 'go.mod'), kubernetesModule(await readFile(found.GoMod, 'utf8'), source));
  await writeFile(join(directory, 'go.sum'), await readFile(join(found.Dir, 'go.sum'), 'utf8'));
}

/** @param text the `go.mod` of `source`, which is Kubernetes */
export function kubernetesModule(text: string, source: Source): string {
  // Kubernetes 1.35.4 is published beside its libraries as 0.35.4.
  const twin = source.version.replace(/^v1\./, 'v0.');
  const replaced = text
    .replace(/^module .*$/m, 'module clusterwright.dev/sandbox')
    .replace(/^(\s*\S+ =>) \.\/\S+$/gm, (_, left: string) => {
      const name = left.trim().split(' ')[0] ?? '';
      return `${left} ${name} ${twin}`;
    });
  return `${replaced}\nrequire ${source.module} ${source.version}\n`;
}
