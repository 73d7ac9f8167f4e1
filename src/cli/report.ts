/** How a command that went wrong says so: what the user can act on in one message, never a stack unless it is asked for. */
import { inspect } from 'node:util';
import { BadInput, faultText } from './fault.ts';
import type { Surroundings } from './surroundings.ts';

/** Errors that are about the user's world and not about this program. By name, so that nothing is loaded for them. */
const understood: ReadonlySet<string> = new Set([
  'CommandError',
  'CredentialsError',
  'ApiError',
  'ApiUnreachable',
  'SandboxError',
  'YError',
]);

export function reportError(error: unknown, around: Pick<Surroundings, 'stderr' | 'program'>, debug: boolean): void {
  const { program } = around;
  if (error instanceof BadInput) around.stderr(`${error.faults.map(faultText).join('\n')}\n`);
  else if (error instanceof Error && isUnderstood(error)) around.stderr(`${program}: ${error.message}\n`);
  else {
    const message = error instanceof Error ? error.message : String(error);
    around.stderr(`${program}: ${message}\nThis is a defect of ${program}; --debug shows where.\n`);
  }
  if (debug) around.stderr(`${inspect(error, { depth: 6 })}\n`);
}

/** What the system refuses (a port that is taken, a full disk) is no defect; Node's own codes (`ERR_...`) are. */
function isUnderstood(error: Error): boolean {
  const { code } = error as { readonly code?: unknown };
  return understood.has(error.name) || (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code));
}
