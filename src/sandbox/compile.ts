/**
 * Compiles the sandbox's programs from Go modules.
 *
 * One program at a time, linked beside its place and renamed into it: an interrupted run leaves nothing half and goes
 * on at the program it was at, and Go's own cache holds the packages that were ready.
 */
import { mkdir, rename } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import type { GoModule, GoProgram } from '../engine/image-recipe.ts';
import { binaryPath } from './binaries.ts';
import { run } from './command.ts';
import { goEnvironment, requireGo } from './golang.ts';
import { writeModule } from './gomodule.ts';
import { type Layout, versions } from './layout.ts';
import type { Progress, Step } from './progress.ts';
import { inWorkspace } from './workspace.ts';

/** Compiles the programs that are missing; with none missing it needs no Go. */
export async function compileMissing(layout: Layout, missing: readonly GoProgram[], progress: Progress): Promise<void> {
  if (missing.length === 0) return;
  await requireGo();
  if (missing.some(({ source }) => source.name === 'kubernetes')) {
    progress.note(
      `Compiling Kubernetes into ${layout.cache}: about ${minutesFor(availableParallelism())} minutes, once; if it is cut it goes on where it was`,
    );
  }
  let number = 0;
  const sources = [...new Set(missing.map((each) => each.source))];
  let fetched: Promise<unknown> = Promise.resolve();
  for (const [i, source] of sources.entries()) {
    await fetched;
    await inWorkspace(layout.cache, async (directory) => {
      await progress.step(`Fetching ${source.name} ${source.version}`, (step) =>
        fetchModules(directory, source, missing, step),
      );
      const next = sources[i + 1];
      if (next !== undefined) fetched = prefetch(layout, next, missing);
      const compiled = new Set<string>();
      for (const each of missing.filter((one) => one.source === source)) {
        number += 1;
        await progress.step(`Compiling ${each.name} (${number} of ${missing.length})`, (step) =>
          compile(layout, directory, each, compiled, step),
        );
      }
    });
  }
}

/** Whole minutes for everything, of which one is for the network. Measured with empty caches: 12.4 minutes of one core. */
export function minutesFor(cores: number): number {
  return Math.ceil(12.4 / cores) + 1;
}

/** While another source is compiled, so that the processors do not wait for the network. Whatever fails fails again in its own step. */
async function prefetch(layout: Layout, source: GoModule, missing: readonly GoProgram[]): Promise<void> {
  await inWorkspace(layout.cache, (directory) =>
    fetchModules(directory, source, missing, { report: () => undefined }),
  ).catch(() => undefined);
}

/** Downloads every module that the programs of a source are made of. */
async function fetchModules(
  directory: string,
  source: GoModule,
  missing: readonly GoProgram[],
  step: Step,
): Promise<void> {
  let modules = 0;
  const onLine = (line: string): void => {
    if (!line.startsWith('go: downloading')) return;
    modules += 1;
    step.report(`${modules} modules`);
  };
  await writeModule(directory, source, onLine);
  const packages = missing.filter((each) => each.source === source).map((each) => each.package);
  await run('go', ['list', '-deps', ...packages], { cwd: directory, env: goEnvironment, onLine });
}

async function compile(
  layout: Layout,
  directory: string,
  each: GoProgram,
  compiled: Set<string>,
  step: Step,
): Promise<void> {
  const listed = await run('go', ['list', '-deps', each.package], { cwd: directory, env: goEnvironment });
  const needed = listed.split('\n').filter((name) => name !== '' && !compiled.has(name));
  let done = 0;
  const onLine = (line: string): void => {
    // With -v, one line a package that is not in Go's cache.
    if (line.includes(' ') || line === '') return;
    done += 1;
    step.report(done < needed.length ? `${done} of ${needed.length} packages` : 'linking');
  };
  const target = binaryPath(layout, each);
  const linked = join(directory, each.name);
  await run('go', ['build', '-v', '-trimpath', `-ldflags=${linkerFlags(each)}`, '-o', linked, each.package], {
    cwd: directory,
    env: goEnvironment,
    onLine,
  });
  await mkdir(dirname(target), { recursive: true });
  await rename(linked, target);
  for (const name of needed) compiled.add(name);
}

/** Kubernetes takes its version from the linker, and answers `kubectl version` with it. */
export function linkerFlags(each: GoProgram): string {
  if (each.source.name !== 'kubernetes') return '-s -w';
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(versions.kubernetes) ?? [];
  const variable = 'k8s.io/component-base/version';
  return [
    '-s -w',
    `-X ${variable}.gitVersion=${versions.kubernetes}`,
    `-X ${variable}.gitMajor=${major}`,
    `-X ${variable}.gitMinor=${minor}`,
  ].join(' ');
}
