/** Both judgements of an assessment. Whatever is added to one of them alone is lost while the plan has to wait, or while it has not. */
import type { DeferrablePlan } from '../plan/plan.ts';
import type { Assessment, Judgement } from './engine.ts';

export function withJudgements(assessment: Assessment, change: (one: Judgement) => Judgement): Assessment {
  const { otherwise } = assessment;
  return { ...assessment, ...change(assessment), ...(otherwise === undefined ? {} : { otherwise: change(otherwise) }) };
}

export function plansOf({ plan, otherwise }: Pick<Assessment, 'plan' | 'otherwise'>): DeferrablePlan {
  return otherwise === undefined ? plan : { ...plan, otherwise: otherwise.plan };
}
