/**
 * What a pass may leave of its plan without a fault: a change that the operator has made a moment ago waits, since somebody may undo it each time
 * (`src/runtime/contested.ts`), and what comes after it may rest on it.
 */
import type { Step } from '../../../src/plan/plan.ts';

/** How long the operator remembers a change, in milliseconds. */
export const rememberedMs = 20_000;

/** `wasMade`: by an earlier pass of the same process, not longer ago than that. */
export function waitingSteps(steps: readonly Step[], wasMade: (step: Step) => boolean): ReadonlySet<Step> {
  const first = steps.findIndex((step) => step.type !== 'act' && step.type !== 'issue' && wasMade(step));
  return new Set(first === -1 ? [] : steps.slice(first));
}
