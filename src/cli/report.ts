/** How a command that went wrong says so: what the user can act on in one message, never a stack unless it is asked for. */
import { inspect } from 'node:util';
import type { CliContext } from './cli-context.ts';
import { BadInput, faultText } from './fault.ts';

/** Errors that are about the user's world and not about this program. By name, so that nothing is loaded for them. */
const understood: ReadonlySet<string> = new Set([
  'CommandError',
  'CredentialsError',
  'ApiError',
  'ApiUnreachable',
  'SandboxError',
  'YError',
]);

export function reportError(error: unknown, cli: Pick<CliContext, 'stderr' | 'program'>, debug: boolean): void {
  const { program } = cli;
  if (error instanceof BadInput) cli.stderr(`${error.faults.map(faultText).join('\n')}\n`);
  else if (error instanceof Error && isUnderstood(error)) cli.stderr(`${program}: ${error.message}\n`);
  else {
    const message = error instanceof Error ? error.message : String(error);
    cli.stderr(`${program}: ${message}\nThis is a defect of ${program}; --debug shows where.\n`);
  }
  if (debug) cli.stderr(`${inspect(error, { depth: 6 })}\n`);
}

/** What the system refuses (a port that is taken, a full disk) is no defect; Node's own codes (`ERR_...`) are. */
function isUnderstood(error: Error): boolean {
  const { code } = error as { readonly code?: unknown };
  return understood.has(error.name) || (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code));
}
