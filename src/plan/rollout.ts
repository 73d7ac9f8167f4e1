/**
 * Whose turn it is to restart. One member at a time, those without a role first, the leader last; and nobody as long as
 * somebody else is not well, because that one may be all that is left.
 */
import type { Pod, StatefulSet } from '../resources/children.ts';

const revisionLabel = 'controller-revision-hash';

/** Pods that do not run the StatefulSet's current template, the highest ordinal first. Empty while that is not known yet. */
export function outdatedPods(set: StatefulSet | undefined, pods: readonly Pod[]): Pod[] {
  const revision = set?.status?.updateRevision;
  if (set === undefined || revision === undefined) return [];
  if (set.status?.observedGeneration !== set.metadata.generation) return [];
  return pods
    .filter((pod) => pod.metadata.labels?.[revisionLabel] !== revision && pod.metadata.deletionTimestamp === undefined)
    .reverse();
}

/** The next pod to restart, leaders last. */
export function nextToRestart(outdated: readonly Pod[], isLeader: (pod: Pod) => boolean): Pod | undefined {
  return outdated.find((pod) => !isLeader(pod)) ?? outdated[0];
}
