/** An engine's plan inside what is done for every kind: the controller and the CLI show and do the same. */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { Resource } from '../api/object.ts';
import { finalizerSteps } from './deletion.ts';
import { type Plan, wait } from './plan.ts';

export function passPlan(cluster: Cluster<CommonSpec>, resource: Resource, plan: Plan): Plan {
  if (cluster.spec.paused === true) {
    return { steps: [], outcome: wait('Paused', 'spec.paused is true: nothing is changed') };
  }
  return { ...plan, steps: [...finalizerSteps(cluster, resource), ...plan.steps] };
}
