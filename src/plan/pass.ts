/** An engine's plan inside what is done for every kind: the controller and the CLI show and do the same. */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { Resource } from '../api/object.ts';
import type { Children } from '../resources/children.ts';
import { type WantedAccess, withAccess } from './access-steps.ts';
import { finalizerSteps } from './deletion.ts';
import { type DeferrablePlan, findingOf, type Plan, type Step, wait } from './plan.ts';

/** What the plan of every kind rests on, besides the engine's plan. */
export interface PassFacts {
  readonly resource: Resource;
  readonly children: Children;
  readonly access: WantedAccess;
}

export function passPlan(
  cluster: Cluster<CommonSpec>,
  { resource, children, access }: PassFacts,
  { otherwise, ...engine }: DeferrablePlan,
): DeferrablePlan {
  if (cluster.spec.paused === true) {
    return { steps: [], outcome: wait('Paused', 'spec.paused is true: nothing is changed') };
  }
  const whole = (part: Plan): Plan => {
    const plan = withAccess(cluster, children, access, part);
    return { ...plan, steps: [...finalizerSteps(cluster, resource), ...withoutHaste(plan.steps)] };
  };
  return { ...whole(engine), ...(otherwise === undefined ? {} : { otherwise: whole(otherwise) }) };
}

/** No data rests on what has a finding of its own. It comes last: a webhook may take long to refuse it. */
function withoutHaste(steps: readonly Step[]): readonly Step[] {
  return [
    ...steps.filter((step) => findingOf(step) === undefined),
    ...steps.filter((step) => findingOf(step) !== undefined),
  ];
}
