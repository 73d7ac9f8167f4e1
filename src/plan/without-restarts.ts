/** Why no pod would restart for a template, as a plan shows by itself. */
import type { EngineAction, Plan } from './plan.ts';
import { podEndedBy } from './template-use.ts';

/**
 * For plans in which something has to come before any rollout, and may take for ever, such as a Secret that is missing. A template that is written
 * meanwhile would reach nobody, and other clusters would wait for that. Where the plan ends a pod, that one gets it.
 */
export function withoutRestarts<Action extends EngineAction>(plan: Plan<Action>): Plan<Action> {
  const { outcome, steps } = plan;
  if (outcome.state === 'settled' || steps.some((step) => podEndedBy(step) !== undefined)) return plan;
  return { ...plan, noRestarts: outcome.message };
}
