/** Pod templates that a plan is about to use: it writes one, or ends a pod that starts again by one. */
import type { KubeObject } from '../api/object.ts';
import { pods } from '../api/resource.ts';
import type { Children, Pod, StatefulSet } from '../resources/children.ts';
import { archiveComponent, componentLabel } from '../resources/metadata.ts';
import { templatePaths } from './difference.ts';
import type { ObjectStep, Plan, Step } from './plan.ts';

export interface TemplateUse {
  readonly step: Step;
  /** The StatefulSet, with the template as it is then. */
  readonly set: KubeObject;
  /** The pod that ends for it; undefined where the template is only written. */
  readonly ends?: Pod;
}

/** Empty for what a person has confirmed as a whole: a part of such a plan alone is worse than all of it. */
export function templatesUsed(
  { steps, destructive }: Plan,
  children: Pick<Children, 'statefulSet' | 'pods'>,
): readonly TemplateUse[] {
  return destructive === true ? [] : steps.flatMap((step) => useOf(step, children));
}

/** Whether it matters for the plan, or for pods that are missing, if the API server accepts a template. */
export function needsJudgement(plan: Plan, children: Children): boolean {
  return templatesUsed(plan, children).length > 0 || setsWithoutPods(children).length > 0;
}

/** StatefulSets that have fewer pods than they want, and know it: Kubernetes is about to make them, or cannot. */
export function setsWithoutPods({ objects }: Pick<Children, 'objects'>): readonly StatefulSet[] {
  const sets = objects.filter(({ kind }) => kind === 'StatefulSet') as readonly StatefulSet[];
  return sets.filter((set) => {
    const { replicas = 0, observedGeneration } = set.status ?? {};
    const isKnown = observedGeneration !== undefined && observedGeneration === set.metadata.generation;
    return isKnown && replicas < (set.spec?.replicas ?? 0);
  });
}

/** It changes the pod template of a StatefulSet, if only by removing fields. */
export function writesTemplate(step: Step): step is Extract<ObjectStep, { type: 'apply' }> {
  return step.type === 'apply' && step.object.kind === 'StatefulSet' && templatePaths(step.changes).length > 0;
}

/** Left out, since a template has been written by which its server restarts with its pod. `written`: names of StatefulSets. */
export function isSuperseded(step: Step, written: ReadonlySet<string>): boolean {
  return step.type === 'act' && step.unlessWritten?.some((name) => written.has(name)) === true;
}

/** The plan as far as all of its templates are taken. */
export function withoutSuperseded(plan: Plan): Plan {
  const written = new Set(plan.steps.flatMap((step) => (writesTemplate(step) ? [step.object.metadata.name] : [])));
  return { ...plan, steps: plan.steps.filter((step) => !isSuperseded(step, written)) };
}

/**
 * Whether members restart by the step: it writes a template, or what members are stopped for, or tells the database what is not told while that has
 * to wait. `otherwise`: see `DeferrablePlan`.
 */
export function interrupts(step: Step, otherwise: Plan | undefined): boolean {
  if (step.type === 'apply' && step.interrupts === true) return true;
  if (step.type !== 'act') return writesTemplate(step) && !isArchive(step.object);
  const isSame = (other: Step): boolean => other.type === 'act' && other.summary === step.summary;
  return otherwise !== undefined && !otherwise.steps.some(isSame);
}

export function isArchive({ metadata }: KubeObject): boolean {
  return metadata.labels?.[componentLabel] === archiveComponent;
}

function useOf(step: Step, children: Pick<Children, 'statefulSet' | 'pods'>): TemplateUse[] {
  if (writesTemplate(step)) return [{ step, set: step.object }];
  const name = podEndedBy(step);
  const set = name === undefined ? undefined : children.statefulSet(setOf(name));
  const ends = children.pods.find(({ metadata }) => metadata.name === name);
  return set === undefined || ends === undefined ? [] : [{ step, set, ends }];
}

/** The name of the pod that the step deletes. */
export function podEndedBy(step: Step): string | undefined {
  return step.type === 'delete' && step.ref.resource === pods ? step.ref.name : undefined;
}

/** The name of the StatefulSet that makes the pod. */
export function setOf(pod: string): string {
  return pod.replace(/-\d+$/, '');
}
