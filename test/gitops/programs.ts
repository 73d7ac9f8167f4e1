/**
 * What Flux and Argo CD judge resources with, compiled from their Go modules into the cache of the sandbox. Each program reads JSON objects,
 * one a line, and answers to each with one line.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoProgram } from '../../src/engine/image-recipe.ts';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

/** The name has a hash of our `main`: a changed one is compiled anew. */
function ownProgram(name: string, module: string, version: string): GoProgram {
  const main = readFileSync(join(import.meta.dirname, `${name}.go`), 'utf8');
  const hash = createHash('sha256').update(main).digest('hex').slice(0, 8);
  return { name, package: '.', source: { name: `${name}-${hash}`, module, version, main } };
}

export const kstatusProgram = ownProgram('kstatus', 'github.com/fluxcd/cli-utils', 'v1.2.3');

/** Argo CD's Lua. */
export const argocdProgram = ownProgram('argocd', 'github.com/yuin/gopher-lua', 'v1.1.2');

export const gitopsPrograms: readonly GoProgram[] = [kstatusProgram, argocdProgram];

const pathOf = (program: GoProgram): string => binaryPath(layoutOf(process.env), program);

export const isCompiled = (program: GoProgram): boolean => existsSync(pathOf(program));

/** @throws what the program says where it ends without an answer to each */
export function answersOf<Answer>(program: GoProgram, questions: readonly unknown[]): readonly Answer[] {
  const { status, stdout, stderr } = spawnSync(pathOf(program), {
    encoding: 'utf8',
    input: questions.map((question) => `${JSON.stringify(question)}\n`).join(''),
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (status !== 0 || lines.length !== questions.length) throw new Error(stderr);
  return lines.map((line) => JSON.parse(line) as Answer);
}
