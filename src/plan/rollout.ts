/**
 * Whose turn it is to get the present template, by a restart or in place. One member at a time, those without a role first, the leader
 * last; and nobody as long as somebody else is not well, because that one may be all that is left.
 */
import { pods as podResource } from '../api/resource.ts';
import { decidingStatuses, type Pod, podIsReady, type StatefulSet } from '../resources/children.ts';
import type { ObjectStep } from './plan.ts';
import { isUnderway } from './pod-problem.ts';
import { refOf } from './ref.ts';
import { isMarked, isResizing, revisionLabel } from './resize.ts';
import { whyNotInPlace } from './resize-turn.ts';

/** Whether Kubernetes has taken up what the StatefulSet says: until then nobody knows which pods are outdated. */
export function isGenerationObserved(set: StatefulSet | undefined): boolean {
  return set === undefined || set.status?.observedGeneration === set.metadata.generation;
}

/**
 * Pods that do not run the StatefulSet's current template, the highest ordinal first, and those that are being resized to it. Also those
 * that it does not select any more, since somebody has changed their labels: Services do not lead to them. Empty while that is not known yet.
 */
export function outdatedPods(set: StatefulSet | undefined, pods: readonly Pod[]): Pod[] {
  const revision = set?.status?.updateRevision;
  if (set === undefined || revision === undefined) return [];
  if (!isGenerationObserved(set)) return [];
  const wanted = Object.entries({ ...set.spec?.selector?.matchLabels, [revisionLabel]: revision });
  return pods
    .filter((pod) => {
      const { labels = {}, deletionTimestamp } = pod.metadata;
      const isOther = wanted.some(([label, value]) => labels[label] !== value);
      return deletionTimestamp === undefined && (isOther || isMarked(pod));
    })
    .reverse();
}

/** The next pod to get the template: one that has begun to, then the others, leaders last. */
export function nextToRestart(outdated: readonly Pod[], isLeader: (pod: Pod) => boolean): Pod | undefined {
  return outdated.find(isResizing) ?? outdated.find((pod) => !isLeader(pod)) ?? outdated[0];
}

/**
 * An outdated pod that is not ready may never become so: its template was wrong, and has been corrected since. A new one
 * interrupts nobody. `mayGo` says whether its process has nothing to lose. One at a time: none while another stops.
 */
export function stuckPod(
  set: StatefulSet | undefined,
  pods: readonly Pod[],
  mayGo: (pod: Pod) => boolean,
): Pod | undefined {
  if (pods.some((pod) => pod.metadata.deletionTimestamp !== undefined)) return undefined;
  return outdatedPods(set, pods).find((pod) => !podIsReady(pod) && mayGo(pod));
}

/** Ends a pod for the template that its StatefulSet has now. */
export function restartSteps(pod: Pod): ObjectStep[] {
  const ref = refOf(pod, podResource);
  return ref === undefined ? [] : [{ type: 'delete', ref, reason: `it runs an older template${whyNotInPlace(pod)}` }];
}

/** A process that has ended so often in a row does not get on. */
const manyRestarts = 5;

/** It has no process, and will have none by itself. */
export function cannotStart(pod: Pod): boolean {
  const { conditions } = pod.status ?? {};
  return conditions?.some((c) => c.type === 'PodScheduled' && c.status === 'False') === true || isStopped(pod);
}

/** A container of it cannot run, as far as its kubelet tells: by this template it does not get on. */
function isStopped({ status }: Pod): boolean {
  return decidingStatuses(status).some(({ restartCount = 0, state }) => {
    const reason = state?.waiting?.reason;
    if (reason === undefined || isUnderway(reason)) return false;
    return reason !== 'CrashLoopBackOff' || restartCount >= manyRestarts;
  });
}

/** A container of it has never run by its template: there is no such image, or a setting that is no setting. */
export function hasNeverRun({ status }: Pod): boolean {
  return decidingStatuses(status).some(({ state }) => {
    const reason = state?.waiting?.reason;
    return reason !== undefined && !isUnderway(reason) && reason !== 'CrashLoopBackOff';
  });
}
