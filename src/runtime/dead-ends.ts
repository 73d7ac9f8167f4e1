/**
 * Looks at the API server between a plan and its execution, for pods that could not start again once they have ended: a
 * Secret that they mount is missing, or their template is refused. No watch tells of either.
 */
import type { EngineContext } from '../engine/engine-context.ts';
import { type ObstructedPlan, withoutObstructed, withUnjudged } from '../plan/obstacle.ts';
import type { Plan } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';
import type { KubeClient } from './client.ts';
import { missingSecrets } from './mounted-secrets.ts';
import type { TemplateJudge } from './template-judge.ts';

export type DeadEnds = (
  plan: Plan,
  children: Children,
  io: Pick<EngineContext, 'secretRefused' | 'signal'>,
) => Promise<ObstructedPlan>;

/** Resolves with the plan without the steps that lead there. */
export function createDeadEnds(client: Pick<KubeClient, 'get'>, templates: TemplateJudge): DeadEnds {
  return async (plan, children, io) => {
    const secrets = await missingSecrets(plan.steps, children, client, io);
    const { obstacles, unjudged } = await templates.judge(plan, children, { signal: io.signal });
    const obstructed = withoutObstructed(plan, [...secrets, ...obstacles]);
    return { ...obstructed, plan: withUnjudged(obstructed.plan, unjudged) };
  };
}
