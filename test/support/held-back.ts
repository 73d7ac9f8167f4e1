/** The steps that the operator carries out, and the status that it writes, while a rollout has to wait. */
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { Resource } from '../../src/api/object.ts';
import type { Assessment, Judgement, StatusReport } from '../../src/engine/engine.ts';
import { plansOf } from '../../src/engine/judgement.ts';
import type { DeferrablePlan, EngineAction, Plan } from '../../src/plan/plan.ts';
import { type Gated, gated } from '../../src/plan/rollout-gate.ts';
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

/** As the runtime judges: the plan, and what is done instead while it has to wait. */
export function judgedBoth<Action extends EngineAction>(
  { otherwise, ...plan }: DeferrablePlan<Action>,
  statusOf: (plan: Plan<Action>) => StatusReport,
): Pick<Assessment, 'plan' | 'status' | 'otherwise'> {
  const judge = (one: Plan<Action>): Judgement => ({ plan: one, status: statusOf(one) });
  return { ...judge(plan), ...(otherwise === undefined ? {} : { otherwise: judge(otherwise) }) };
}

/** `at`: noon, in milliseconds. */
export function heldBack(
  waits: Waits,
  cluster: Cluster<CommonSpec>,
  children: Children,
  assessment: Pick<Assessment, 'plan' | 'status' | 'otherwise'>,
  { at, resource }: { readonly at: number; readonly resource: Resource },
): HeldBack {
  const maintained = waits === 'window' ? { ...cluster, spec: { ...cluster.spec, maintenance: { windows } } } : cluster;
  const gate = gated(plansOf(assessment), {
    ...{ cluster: maintained, children, resource, now: at },
    takePlace: () => (waits === 'turn' ? 'those of RedisCluster other' : undefined),
  });
  return { plan: gate.plan, status: coherent(heldBackStatus(maintained, assessment, gate)) };
}

/** What the operator does, and what becomes of its place, where no window and no other cluster is in the way. */
export function withFreeTurn(
  plan: DeferrablePlan,
  cluster: Cluster<CommonSpec>,
  children: Children,
  { at, resource }: { readonly at: number; readonly resource: Resource },
): Gated {
  return gated(plan, { ...{ cluster, children, resource, now: at }, takePlace: () => undefined });
}
