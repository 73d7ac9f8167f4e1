/** StatefulSets of members that have left. */
import { statefulSets } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf, statefulSetOf } from '../../../plan/ref.ts';
import type { Pod } from '../../../resources/children.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';

/** After the cluster has become unready for the member that leaves. */
const overdueMs = 10_000;

export function leavingSteps(situation: Situation, roster: Roster): ObjectStep[] {
  const { sets, pods } = situation;
  const seen = [...sets].flatMap(([index, set]) => (roster.has(index) ? [] : [refOf(set, statefulSets)]));
  const unseen = isOverdue(situation)
    ? [...pods].flatMap(([index, pod]) =>
        roster.has(index) || sets.has(index) || !isMembers(situation, pod, index) ? [] : [statefulSetOf(pod)],
      )
    : [];
  return [...seen, ...unseen].flatMap((ref) =>
    ref === undefined ? [] : [{ type: 'delete', ref, reason: 'its member has left' }],
  );
}

/**
 * The pod of a StatefulSet that was deleted is told to stop a moment later. One that runs on has a StatefulSet whose labels somebody has
 * changed, so that no watch shows it.
 */
function isOverdue({ cluster, observed }: Situation): boolean {
  const ready = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' && observed.at - Date.parse(ready.lastTransitionTime) >= overdueMs;
}

/** By its volume: a pod that has the labels of one may be anybody's. */
function isMembers({ claims, store }: Situation, { metadata }: Pod, index: number): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    store.systemId !== undefined &&
    heldBy(claims.get(index)) === store.systemId
  );
}
