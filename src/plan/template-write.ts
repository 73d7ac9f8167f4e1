/** Steps of a plan by which a rollout begins: they write another template of a StatefulSet whose pods run. */
import type { KubeObject } from '../api/object.ts';
import { statefulSets } from '../api/resource.ts';
import { type Children, type Pod, podIsReady, type StatefulSet } from '../resources/children.ts';
import { componentLabel } from '../resources/metadata.ts';
import { hasOtherTemplate } from './difference.ts';
import type { ObjectStep, Plan, Step } from './plan.ts';
import { refOf } from './ref.ts';
import { cannotStart, hasNeverRun, isGenerationObserved, outdatedPods } from './rollout.ts';
import { isArchive, setOf, writesTemplate } from './template-use.ts';

export interface TemplateWrite {
  readonly step: Extract<ObjectStep, { type: 'apply' }>;
  readonly live: StatefulSet;
}

export function templateWrites({ steps }: Pick<Plan, 'steps'>, children: Children): readonly TemplateWrite[] {
  return steps.flatMap((step): TemplateWrite[] => {
    if (!writesTemplate(step) || isArchive(step.object)) return [];
    const live = children.statefulSet(step.object.metadata.name);
    return live === undefined ? [] : [{ step, live }];
  });
}

/** Of a cluster, but for the archive of its log: it interrupts no client, and its task is written at once. */
export function setsIn({ objects }: Pick<Children, 'objects'>): readonly StatefulSet[] {
  return objects.filter((object) => object.kind === 'StatefulSet' && !isArchive(object)) as readonly StatefulSet[];
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
  return (
    setsIn(children).some((set) => isOutdated(set, children)) ||
    children.pods.some((pod) => !isArchive(pod) && hasNeverRun(pod))
  );
}

/** After so long another template may be what a pod needs that is not ready: until then it may be about to be. */
const patienceMs = 300_000;

export interface WriteFacts {
  readonly children: Children;
  /** The template follows from what a person has just changed in the spec. */
  readonly isEdited: boolean;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Whether the write interrupts nobody who would go on without it: it corrects a template, or repairs what does not run. A pod that is away
 * for a moment starts by the template of before: a node is replaced, a registry is busy.
 */
export function isRepair({ live, step }: TemplateWrite, { children, isEdited, now }: WriteFacts): boolean {
  const pods = podsOfSet(live, children);
  const hasReady = pods.some(podIsReady);
  // Where others are ready, they would restart as well: that has a time, unless a person is at it.
  const mayBeStuck = (pod: Pod): boolean => isEdited || (!hasReady && isLongUnready(pod, now));
  if (isOutdated(live, children) || pods.some((pod) => cannotStart(pod) && mayBeStuck(pod))) return true;
  if (changesVolumes(step) && pods.some((pod) => isWaiting(pod, now))) return true;
  if (hasReady) return false;
  if (isEdited || (pods.length === 0 && live.spec?.replicas === 0)) return true;
  return pods.length > 0 && pods.every((pod) => pod.status?.phase === 'Running' && isLongUnready(pod, now));
}

/**
 * A pod waits for a Secret that is not there as it does for an image: its status has the same words. So the write has to name another Secret, and
 * the pod has to wait for long.
 */
function changesVolumes({ changes }: TemplateWrite['step']): boolean {
  return changes.some(({ path }) => path.startsWith('spec.template.spec.volumes'));
}

/** The kubelet sets the time when it takes up the pod, before volumes and images. */
function isWaiting({ status }: Pod, now: number): boolean {
  return status?.phase === 'Pending' && now - Date.parse(status.startTime ?? '') > patienceMs;
}

/** By the clock of the kubelet, or of the scheduler for a pod without a node. Where nobody says since when, it is not long. */
function isLongUnready({ status }: Pod, now: number): boolean {
  const { conditions = [] } = status ?? {};
  const told = ['Ready', 'PodScheduled'].flatMap((type) => conditions.find((one) => one.type === type) ?? []);
  const since = told[0]?.status === 'True' ? Number.NaN : Date.parse(told[0]?.lastTransitionTime ?? '');
  return now - since > patienceMs;
}

/** Pods that have long not been ready, and would get another template by these writes. */
export function longUnready(
  writes: readonly TemplateWrite[],
  { children, now }: Pick<WriteFacts, 'children' | 'now'>,
): readonly Pod[] {
  return writes.flatMap(({ live }) => podsOfSet(live, children).filter((pod) => isLongUnready(pod, now)));
}

/** A process may end once an hour for years. One that ends again and again gets another end within that time. */
const endedMs = 1_800_000;

/** The template may be what a pod needs that has long not been ready, or whose process ends: it may be ready in between, and never well. */
export function mayBeHelped(
  writes: readonly TemplateWrite[],
  { children, now }: Pick<WriteFacts, 'children' | 'now'>,
): boolean {
  const hasEnded = ({ status }: Pod): boolean =>
    (status?.containerStatuses ?? []).some(
      ({ lastState }) => now - Date.parse(lastState?.terminated?.finishedAt ?? '') <= endedMs,
    );
  return (
    longUnready(writes, { children, now }).length > 0 ||
    writes.some(({ live }) => podsOfSet(live, children).some(hasEnded))
  );
}

/**
 * Members have got the new template, and some that are well have yet to: the write follows them. Where none has got it, a pod is being repaired,
 * which is no reason to restart others. Of the same component only, since a pooler that restarts is no reason to restart servers.
 *
 * @param writes all of the plan: a StatefulSet that is not in them has the template that is wanted
 */
export function followsRollout({ live }: TemplateWrite, writes: readonly TemplateWrite[], children: Children): boolean {
  const componentOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[componentLabel];
  const peers = setsIn(children).filter((set) => componentOf(set) === componentOf(live));
  const isOnItsWay = (set: StatefulSet): boolean => outdatedPods(set, podsOfSet(set, children)).some(podIsReady);
  const isWritten = (set: StatefulSet): boolean => writes.some((write) => write.live === set);
  const hasGot = (set: StatefulSet): boolean => {
    const pods = podsOfSet(set, children);
    return !isWritten(set) && outdatedPods(set, pods).length < pods.length;
  };
  return peers.some(isOnItsWay) && peers.some(hasGot);
}

/** Why a rollout cannot begin yet: a member more would be away. `except`: who may be waiting for this very rollout. */
export function unreadyPods(children: Children, except: readonly Pod[] = []): readonly string[] {
  return setsIn(children).flatMap((set) => {
    const pods = podsOfSet(set, children);
    const missing = (set.spec?.replicas ?? 0) - pods.length;
    return [
      ...pods.filter((pod) => !podIsReady(pod) && !except.includes(pod)).map(({ metadata }) => metadata.name),
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
  return [{ type: 'patch', ref, patch: { spec: { replicas: change.to } }, changes: [change], scaled: live }];
}

/** Nothing changes but the text with which a person has asked for a restart. */
export function isRequestedRestart({ step }: TemplateWrite, annotation: string): boolean {
  const all = 'spec.template.metadata.annotations';
  return (
    !hasOtherTemplate(step.changes) &&
    step.changes
      .filter(({ path }) => path.startsWith('spec.template'))
      // A template without annotations gets them as a whole.
      .every(
        ({ path, to }) =>
          path === `${all}[${annotation}]` || (path === all && Object.keys(to ?? {}).join() === annotation),
      )
  );
}
