/** How the commands of the sandbox run: with progress on the error output, and with errors for people. */
import type { Progress } from '../sandbox/progress.ts';

/** Runs a command: what is the user's to solve is one message and exit code 1; a defect keeps its stack. */
export async function attend(work: (progress: Progress) => Promise<void>): Promise<void> {
  const [{ createProgress }, { isSystemError, messageOf, SandboxError }] = await Promise.all([
    import('../sandbox/progress.ts'),
    import('../sandbox/error.ts'),
  ]);
  try {
    await work(createProgress());
  } catch (error) {
    // What the system refuses (no space, no permission) is no defect either, and its message names the file.
    if (!(error instanceof SandboxError) && !isSystemError(error)) throw error;
    process.stderr.write(`clusterwright: ${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}
