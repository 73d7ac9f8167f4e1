/**
 * Volumes that somebody has deleted under members that run. Kubernetes keeps each of them as long as its pod is there, so
 * nothing shows, and takes it away when the pod stops. A member whose volume has gone is replaced, and its successor has
 * the data from the others; where too few of those would keep theirs, nobody is stopped on purpose.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { claimName } from '../names.ts';
import { quorumOf, type Situation } from '../observe/situation.ts';
import { isRunning } from '../observe/termination-message.ts';

export function isGoing({ sets, claims }: Situation, index: number | undefined): boolean {
  if (index === undefined || sets.get(index)?.spec?.replicas === 0) return false;
  return claims.get(index)?.metadata.deletionTimestamp !== undefined;
}

/**
 * Why these, by number, are not to stop, or not to be all that is left: by then a majority `among` so many would not have
 * its volumes. Undefined where it would.
 */
export function goingVolumesOutcome(
  situation: Situation,
  stopping: Iterable<number>,
  among: number,
): Outcome | undefined {
  const going = [...stopping].filter((index) => isGoing(situation, index));
  if (going.length === 0 || among - going.length >= quorumOf(among)) return undefined;
  const message = `${goingNames(situation, going)}, and Kubernetes takes each away when its pod stops: nobody is stopped or removed; with three members or more (replicas), delete their pods one at a time, so that each member is replaced and has the data from the others`;
  return blocked('VolumesGoing', message);
}

/** While no majority answers: why members that cannot start are not made anew. Empty where there are none. */
export function heldForVolumes(situation: Situation): string {
  const held = [...situation.pods].flatMap(([index, pod]) =>
    isGoing(situation, index) && !isRunning(pod) ? [index] : [],
  );
  if (held.length === 0) return '';
  return `; ${goingNames(situation, held)}, which Kubernetes takes away with the pod, so that none of these is restarted: set persistentVolumeReclaimPolicy: Retain on their PersistentVolumes before you delete a pod`;
}

function goingNames({ cluster }: Situation, going: readonly number[]): string {
  return `somebody has deleted the volume(s) ${going.map((index) => claimName(cluster.metadata.name, index)).join(', ')}`;
}
