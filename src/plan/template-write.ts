/** Steps of a plan by which a rollout begins: they write another template of a StatefulSet whose pods run. */
import type { KubeObject } from '../api/object.ts';
import { statefulSets } from '../api/resource.ts';
import { type Children, type Pod, podIsReady, type StatefulSet } from '../resources/children.ts';
import type { ObjectStep, Plan, Step } from './plan.ts';
import { refOf } from './ref.ts';
import { cannotStart, hasNeverRun, isGenerationObserved, outdatedPods } from './rollout.ts';
import { setOf } from './template-use.ts';

export interface TemplateWrite {
  readonly step: Extract<ObjectStep, { type: 'apply' }>;
  readonly live: StatefulSet;
}

const template = 'spec.template';

export function templateWrites({ steps }: Pick<Plan, 'steps'>, children: Children): readonly TemplateWrite[] {
  return steps.flatMap((step): TemplateWrite[] => {
    if (step.type !== 'apply' || step.object.kind !== 'StatefulSet') return [];
    const live = children.statefulSet(step.object.metadata.name);
    const isTemplate = step.changes.some(({ path }) => path.startsWith(template));
    return live === undefined || !isTemplate ? [] : [{ step, live }];
  });
}

export function setsIn({ objects }: Pick<Children, 'objects'>): readonly StatefulSet[] {
  return objects.filter(({ kind }) => kind === 'StatefulSet') as readonly StatefulSet[];
}

export function podsOfSet({ metadata }: KubeObject, { pods }: Pick<Children, 'pods'>): readonly Pod[] {
  return pods.filter((pod) => setOf(pod.metadata.name) === metadata.name);
}

/** Pods of the set have yet to get its present template: another one takes its place, which may be what they wait for. */
function isOutdated(set: StatefulSet, children: Children): boolean {
  return outdatedPods(set, podsOfSet(set, children)).length > 0;
}

/**
 * A rollout is going on, as far as the objects tell: pods have yet to get the present template, or one has got it and does not run by
 * it. A process that ends again and again is no sign of that: it may do so for years.
 */
export function isRolling(children: Children): boolean {
  return setsIn(children).some((set) => isOutdated(set, children)) || children.pods.some(hasNeverRun);
}

/** How long a pod may take to start before another template may be what it needs. */
const startingMs = 300_000;

export interface WriteFacts {
  readonly children: Children;
  /** Somebody has just changed the spec. */
  readonly isEdited: boolean;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Whether the write interrupts nobody who would go on without it: it corrects a template, or repairs what does not run. A pod that is away
 * for a moment starts by the template of before.
 */
export function isRepair({ live, step }: TemplateWrite, { children, isEdited, now }: WriteFacts): boolean {
  const pods = podsOfSet(live, children);
  if (isOutdated(live, children) || pods.some(cannotStart)) return true;
  if (changesVolumes(step) && pods.some((pod) => hasBeen('Pending', pod, now))) return true;
  if (pods.some(podIsReady)) return false;
  if (isEdited || (pods.length === 0 && live.spec?.replicas === 0)) return true;
  return pods.length > 0 && pods.every((pod) => hasBeen('Running', pod, now));
}

/**
 * A pod waits for a Secret that is not there as it does for an image: its status has the same words. So the write has to name another Secret, and
 * the pod has to wait for long.
 */
function changesVolumes({ changes }: TemplateWrite['step']): boolean {
  return changes.some(({ path }) => path.startsWith(`${template}.spec.volumes`));
}

/** The kubelet sets the time when it takes up the pod, before volumes and images. */
function hasBeen(phase: 'Pending' | 'Running', { status }: Pod, now: number): boolean {
  return status?.phase === phase && now - Date.parse(status.startTime ?? '') > startingMs;
}

/** Why a rollout cannot begin yet: a member more would be away. */
export function unreadyPods(children: Children): readonly string[] {
  return setsIn(children).flatMap((set) => {
    const pods = podsOfSet(set, children);
    const missing = (set.spec?.replicas ?? 0) - pods.length;
    return [
      ...pods.filter((pod) => !podIsReady(pod)).map(({ metadata }) => metadata.name),
      ...(missing > 0 ? [`${missing} of ${set.metadata.name}`] : []),
    ];
  });
}

/** Kubernetes knows all StatefulSets as they are, all of their pods are ready, and none has an older template. */
export function isAtRest(children: Children): boolean {
  return (
    setsIn(children).every((set) => isGenerationObserved(set)) &&
    unreadyPods(children).length === 0 &&
    !isRolling(children)
  );
}

/** Steps without these writes. A size that changes along is written alone: the template of now stays. */
export function withoutWrites(steps: readonly Step[], held: readonly TemplateWrite[]): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    const write = held.find((one) => one.step === step);
    return write === undefined ? [step] : sizeStep(write);
  });
}

function sizeStep({ step, live }: TemplateWrite): ObjectStep[] {
  const ref = refOf(live, statefulSets);
  const change = step.changes.find(({ path }) => path === 'spec.replicas');
  if (ref === undefined || change === undefined) return [];
  return [{ type: 'patch', ref, patch: { spec: { replicas: change.to } }, changes: [change] }];
}

/** Nothing changes but the text with which a person has asked for a restart. */
export function isRequestedRestart({ step }: TemplateWrite, annotation: string): boolean {
  const paths = step.changes.map(({ path }) => path).filter((path) => path.startsWith(template));
  return paths.every((path) => path === `${template}.metadata.annotations[${annotation}]`);
}
