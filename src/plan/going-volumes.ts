/**
 * Volumes whose claims somebody has deleted while their pods run. Such a volume stays until its pod stops, and then goes.
 * Every engine checks its finished plan here, so that no single rule of a planner has to remember these volumes.
 */
import { type Children, type Claim, ordinalOf, type Pod, type StatefulSet } from '../resources/children.ts';
import { type ClaimTemplateName, claimGivenTo } from './claimed.ts';
import { ownerOf } from './objects.ts';
import type { EngineAction, Outcome, Plan, Step } from './plan.ts';

/**
 * Whether the pod's volume goes when it stops: somebody has deleted its claim. Kubernetes keeps that as long as the pod is there,
 * unless its finalizer is taken away as well: then the claim has gone, and the pod runs on. A pod that is on no node holds none.
 */
export function isVolumeGoing(pod: Pod | undefined, claim: Claim | undefined): boolean {
  return claim === undefined ? pod?.spec?.nodeName !== undefined : claim.metadata.deletionTimestamp !== undefined;
}

/**
 * The plan without the steps that end pods, where one of these would take its volume along and `whyKept` says that nobody else
 * has the data. It is asked once, for all such pods of the plan together. What a person has confirmed (`destructive`) is done.
 * `templates`: which volumes each pod has.
 */
export function sparingVolumes<Action extends EngineAction>(
  plan: Plan<Action>,
  children: Children,
  whyKept: (pods: readonly string[]) => Outcome | undefined,
  templates: readonly ClaimTemplateName[] = ['data'],
): Plan<Action> {
  if (plan.destructive === true) return plan;
  const hasGoing = (pod: Pod): boolean =>
    templates.some((template) => {
      const name = claimGivenTo(pod.metadata.name, template);
      return isVolumeGoing(
        pod,
        children.claims.find((claim) => claim.metadata.name === name),
      );
    });
  const running = children.pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  // A pod that is stopping already is to be started again, so its StatefulSet keeps its size.
  const ends = (step: Step): boolean => children.pods.some((pod) => isEndedBy(step, pod));
  const going = running.filter((pod) => hasGoing(pod) && plan.steps.some((step) => isEndedBy(step, pod)));
  const outcome = going.length === 0 ? undefined : whyKept(going.map(({ metadata }) => metadata.name));
  if (outcome === undefined) return plan;
  const steps = plan.steps.filter((step) => !ends(step));
  return { ...plan, steps, outcome: plan.outcome.state === 'blocked' ? plan.outcome : outcome };
}

function isEndedBy(step: Step, pod: Pod): boolean {
  if (step.type === 'delete') return step.ref.uid === pod.metadata.uid || step.ref.uid === ownerOf(pod);
  if ((step.type !== 'apply' && step.type !== 'create') || step.object.kind !== 'StatefulSet') return false;
  const ordinal = ordinalOf(pod);
  return pod.metadata.name === `${step.object.metadata.name}-${ordinal}` && ordinal >= sizeAfter(step);
}

/** NaN, which no ordinal reaches, where it stays as it is. A new set takes the pods that one of its name has left, and stops those beyond its size. */
function sizeAfter(step: Extract<Step, { type: 'apply' | 'create' }>): number {
  if (step.type === 'create') return Number((step.object as StatefulSet).spec?.replicas);
  return Number(step.changes.find(({ path }) => path === 'spec.replicas')?.to);
}
