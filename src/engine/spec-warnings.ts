/** What a valid spec gives up, or risks, as a condition. */
import { shortened } from '../api/bounds.ts';
import type { DesiredCondition } from '../api/condition.ts';

export interface SpecWarning {
  /** CamelCase, stable. */
  readonly reason: string;
  readonly message: string;
}

/** One condition for all of them, under the reason of the first. */
export function warningClaims(warnings: readonly SpecWarning[]): DesiredCondition[] {
  const [first] = warnings;
  if (first === undefined) return [];
  const message = shortened(warnings.map((warning) => warning.message).join('; '));
  return [{ type: 'SpecWarning', status: 'True', reason: first.reason, message }];
}
