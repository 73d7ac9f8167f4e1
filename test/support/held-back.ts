/** The steps that the operator carries out, and the status that it writes, while a rollout has to wait. */
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { Resource } from '../../src/api/object.ts';
import type { Assessment, StatusReport } from '../../src/engine/engine.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { gated } from '../../src/plan/rollout-gate.ts';
import type { Children } from '../../src/resources/children.ts';
import { heldBackStatus } from '../../src/runtime/held-status.ts';
import { coherent } from './truthful-engine.ts';

/** `window`: none is open. `turn`: another cluster has the only place. */
export type Waits = 'window' | 'turn';

const windows = [{ start: '22:00', duration: '2h', timeZone: 'Etc/UTC' }];

export interface HeldBack {
  readonly plan: Plan;
  readonly status: StatusReport;
}

/** `at`: noon, in milliseconds. */
export function heldBack(
  waits: Waits,
  cluster: Cluster<CommonSpec>,
  children: Children,
  assessment: Pick<Assessment, 'plan' | 'status'>,
  { at, resource }: { readonly at: number; readonly resource: Resource },
): HeldBack {
  const maintained = waits === 'window' ? { ...cluster, spec: { ...cluster.spec, maintenance: { windows } } } : cluster;
  const gate = gated(assessment.plan, {
    ...{ cluster: maintained, children, resource, now: at },
    takePlace: () => (waits === 'turn' ? 'those of RedisCluster other' : undefined),
  });
  return { plan: gate.plan, status: coherent(heldBackStatus(maintained, assessment, gate)) };
}
