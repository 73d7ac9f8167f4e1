/** How the commands of the sandbox run: with progress on the error output, and with errors for people. */
import type { Progress } from '../sandbox/progress.ts';

/**
 * Runs a command's work.
 *
 * @throws SandboxError for whatever is the user's to solve; what the system refuses (no space, no permission) is too
 */
export async function attend(work: (progress: Progress) => Promise<void>): Promise<void> {
  const [{ createProgress }, { isSystemError, messageOf, SandboxError }] = await Promise.all([
    import('../sandbox/progress.ts'),
    import('../sandbox/error.ts'),
  ]);
  try {
    await work(createProgress());
  } catch (error) {
    if (isSystemError(error)) throw new SandboxError(messageOf(error), { cause: error });
    throw error;
  }
}

/** For commands that take several names: where the last of a repeated option counts, so would the last name. */
export const severalPositionals = { 'duplicate-arguments-array': true, 'parse-positional-numbers': false } as const;
