/**
 * Once before the tests that need them: what Flux and Argo CD judge resources with, where there is a Go to compile it with. Without, their
 * tests are skipped and say so.
 */
import { missingPrograms } from '../src/sandbox/binaries.ts';
import { compileMissing } from '../src/sandbox/compile.ts';
import { SandboxError } from '../src/sandbox/error.ts';
import { layoutOf } from '../src/sandbox/layout.ts';
import { createProgress } from '../src/sandbox/progress.ts';
import { gitopsPrograms } from './gitops/programs.ts';

export async function setup(): Promise<void> {
  const layout = layoutOf(process.env);
  try {
    await compileMissing(layout, await missingPrograms(layout, gitopsPrograms), createProgress());
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    console.log(
      `kstatus and the Lua of Argo CD cannot be compiled (${error.message}): tests that need them are skipped`,
    );
  }
}
