/** Once before the tests that need programs: Helm, where there is a Go to compile it with. Without, its tests are skipped and say so. */
import { missingPrograms, program } from '../src/sandbox/binaries.ts';
import { compileMissing } from '../src/sandbox/compile.ts';
import { SandboxError } from '../src/sandbox/error.ts';
import { layoutOf } from '../src/sandbox/layout.ts';
import { createProgress } from '../src/sandbox/progress.ts';

export async function setup(): Promise<void> {
  const layout = layoutOf(process.env);
  try {
    await compileMissing(layout, await missingPrograms(layout, [program('helm')]), createProgress());
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    console.log(`Helm cannot be compiled (${error.message}): the tests of the chart that need it are skipped`);
  }
}
