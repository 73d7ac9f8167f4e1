/** StatefulSets of members that have left. */
import { statefulSets } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf, statefulSetOf } from '../../../plan/ref.ts';
import type { Pod } from '../../../resources/children.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';

export function leavingSteps(situation: Situation, roster: Roster): ObjectStep[] {
  const { sets, pods } = situation;
  const seen = [...sets].flatMap(([index, set]) => (roster.has(index) ? [] : [refOf(set, statefulSets)]));
  // Where somebody has changed the labels of a StatefulSet, its pod runs on and tells of it.
  const unseen = [...pods].flatMap(([index, pod]) =>
    roster.has(index) || sets.has(index) || !isMembers(situation, pod, index) ? [] : [statefulSetOf(pod)],
  );
  return [...seen, ...unseen].flatMap((ref) =>
    ref === undefined ? [] : [{ type: 'delete', ref, reason: 'its member has left' }],
  );
}

/** By its volume: a pod that has the labels of one may be anybody's. */
function isMembers({ claims, store }: Situation, { metadata }: Pod, index: number): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    store.systemId !== undefined &&
    heldBy(claims.get(index)) === store.systemId
  );
}
