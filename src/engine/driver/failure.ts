/** What stops the agent, with whose fault it is: the reason decides whether a repetition makes sense. */
import type { FailureReason } from '../../backup/agent-result.ts';
import { withoutSecrets } from '../../backup/secret-text.ts';
import type { AgentContext } from './agent-context.ts';

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** May a repetition succeed, although nobody changes anything? */
export function isTransient(reason: FailureReason): boolean {
  switch (reason) {
    case 'SourceUnreachable':
    case 'SourceBroken':
    case 'TargetUnreachable':
    case 'TargetBroken':
    case 'Stopped':
    case 'Unexpected':
      return true;
    case 'BadTask':
    case 'SecretUnusable':
    case 'SourceRefused':
    case 'TargetRefused':
    case 'NotFound':
    case 'Ambiguous':
    case 'OtherKey':
    case 'Tampered':
    case 'Unfit':
    case 'Occupied':
      return false;
  }
}

/** The words of an error and of what caused it. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A failed attempt at several addresses says nothing itself.
  const own =
    error instanceof AggregateError && error.message === '' ? error.errors.map(wordsOf).join(', ') : error.message;
  return error.cause === undefined ? own : `${own}: ${wordsOf(error.cause)}`;
}

/**
 * The same for whoever reads a status: without secrets, also where a database or a target has quoted them, and cut only
 * afterwards, since the half of a secret is not known as one.
 */
export function tellable(error: unknown, { conceal }: Pick<AgentContext, 'conceal'>, maxLength: number): string {
  return withoutSecrets(conceal(wordsOf(error))).slice(0, maxLength);
}

/** The error of a system call, or of a library that says why in a code. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : undefined;
}
