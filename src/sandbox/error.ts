/**
 * What goes wrong in the sandbox and is the user's to solve: told in one message, without a stack.
 * Anything else that is thrown is a defect of the sandbox itself.
 */

export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** The system error code of `error` (`ENOENT` ...), if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for what the operating system refuses; false for Node's own codes (`ERR_...`), which are defects. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z0-9]+$/.test(codeOf(error) ?? '');
}
