/**
 * Steps without whose effect a cluster is not as its spec says, and on which no data rests. A refusal is told whatever else is waited for.
 * Where nothing is, nothing goes on before somebody has changed something. Pure.
 */
import { shortened } from '../api/bounds.ts';
import type { DesiredCondition, Finding } from '../api/condition.ts';
import type { StatusReport } from '../engine/engine.ts';
import { blocked, findingOf, type Outcome, type Plan, wait } from '../plan/plan.ts';
import type { StepFailed } from './executor.ts';
import { NameConflict } from './name-conflict.ts';
import { isRefusal } from './refused-expansion.ts';
import { Kept, Undone } from './unmade.ts';

export interface UnmetWish {
  readonly conditions: readonly DesiredCondition[];
  /** What the plan comes to where nothing else is waited for. */
  readonly outcome: Extract<Outcome, { state: 'blocked' | 'wait' }>;
  readonly failures: readonly StepFailed[];
}

/** Undefined where all of them are met, as far as has been tried. */
export function unmetWish(all: readonly StepFailed[]): UnmetWish | undefined {
  const failures = all.filter(({ step }) => findingOf(step) !== undefined);
  if (failures.length === 0) return undefined;
  const refused = failures.filter(({ cause }) => isLasting(cause));
  const types = [...new Set(refused.flatMap(({ step }) => findingOf(step) ?? []))];
  const conditions = types.map((type) => refusal(type, refused));
  const [first] = conditions;
  const outcome = first === undefined ? wait('StepFailed', wordsOf(failures)) : blocked(first.type, first.message);
  return { conditions, outcome, failures };
}

function refusal(type: Finding, refused: readonly StepFailed[]): DesiredCondition & { readonly type: Finding } {
  const told = refused.filter(({ step }) => findingOf(step) === type);
  const isTaken = told.every(({ cause }) => cause instanceof NameConflict);
  return { type, status: 'True', reason: isTaken ? 'NameConflict' : 'Refused', message: wordsOf(told) };
}

/** It will be the same again until somebody changes something. */
function isLasting(cause: unknown): boolean {
  return cause instanceof NameConflict || cause instanceof Undone || cause instanceof Kept || isRefusal(cause);
}

export function wordsOf(failures: readonly StepFailed[]): string {
  return shortened(failures.map(({ message }) => message).join('; '));
}

/** Nothing else is waited for, and nothing else is wrong: that is said first, and the condition tells of the wish. */
export function blockedByWish(
  wish: UnmetWish | undefined,
  { outcome }: Plan,
  observed: Pick<StatusReport, 'conditions'> | undefined,
): UnmetWish['outcome'] | undefined {
  return outcome.state === 'settled' && observed !== undefined && isReady(observed) ? wish?.outcome : undefined;
}

export function isReady({ conditions }: Pick<StatusReport, 'conditions'>): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
