/**
 * Volumes whose claims somebody has deleted while their nodes run. Such a volume stays until its pod stops, and then goes.
 * A replica has its data from the primary afterwards. The primary, and anybody while there is none, would have it from nobody.
 */
import { claimGivenTo } from '../../../plan/claimed.ts';
import { isVolumeGoing } from '../../../plan/going-volumes.ts';
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { cannotStart } from '../../../plan/rollout.ts';
import type { Pod } from '../../../resources/children.ts';
import { claimOf, type Situation } from '../observe/situation.ts';

/** Why these pods are not to stop; undefined where each would have its data from the primary. */
export function goingVolumesOutcome(situation: Situation, stopping: readonly string[]): Outcome | undefined {
  const [first] = situation.dataPods.filter(
    (pod) => stopping.includes(pod.metadata.name) && goesForGood(situation, pod),
  );
  if (first === undefined) return undefined;
  const { name } = first.metadata;
  return blocked(
    'VolumesGoing',
    `${deleted(name)}, and it goes when ${name} stops, which nobody else has the data of: it is not restarted; take a backup, and begin anew with it, or, under Sentinel, set replicas to 3 first`,
  );
}

/** While nobody is primary: why nodes that cannot start are not made anew. Empty where there are none. */
export function heldForVolumes(situation: Situation): string {
  const held = situation.dataPods.filter((pod) => cannotStart(pod) && goesForGood(situation, pod));
  return held
    .map(({ metadata: { name } }) => {
      const advice = 'set persistentVolumeReclaimPolicy: Retain on its PersistentVolume before the pod stops';
      return `; ${deleted(name)}, which goes with the pod, so that ${name} is not restarted: ${advice}`;
    })
    .join('');
}

function goesForGood({ children, spec, topology }: Situation, pod: Pod): boolean {
  const { name } = pod.metadata;
  const hasOther = topology.primary !== undefined && topology.primary.pod !== name;
  return !spec.storage.ephemeral && !hasOther && isVolumeGoing(pod, claimOf(children, name));
}

function deleted(pod: string): string {
  return `somebody has deleted the volume ${claimGivenTo(pod)} (or taken the claim's labels)`;
}
