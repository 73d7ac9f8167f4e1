/**
 * Volumes whose claims somebody has deleted while their members run. Such a volume stays until its pod stops, and then goes.
 * A member without its volume is replaced, and the new one copies the data from the others. Where too few of the others
 * would keep theirs, or no majority answers that could take a new member in, the operator stops no member.
 */
import { isVolumeGoing } from '../../../plan/going-volumes.ts';
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { claimName, podName } from '../names.ts';
import { answering } from '../observe/observed.ts';
import { claimOf, quorumOf, type Situation, voters } from '../observe/situation.ts';
import { isRunning } from '../observe/termination-message.ts';
import { isBlank } from './volumes.ts';

export function isGoing(situation: Situation, index: number | undefined): boolean {
  const { sets, pods } = situation;
  if (index === undefined || sets.get(index)?.spec?.replicas === 0) return false;
  return isVolumeGoing(pods.get(index), claimOf(situation, index));
}

/** Those with data, by number: a learner may not have all of it yet. Somebody may have deleted the record of them. */
function holdersOf({ members, roster, sets }: Situation): number[] {
  if (members === undefined) return [...new Set([...roster.keys(), ...sets.keys()])];
  return voters(members).flatMap(({ index }) => index ?? []);
}

/**
 * Why these, by number, are not to stop, or not to be all that is left: by then a majority of `holders` would not have its
 * data. A volume may have gone already. Undefined where it would, and where no cluster was ever formed and nobody has
 * written to theirs.
 */
export function goingVolumesOutcome(
  situation: Situation,
  stopping: readonly number[],
  holders: readonly number[] = holdersOf(situation),
): Outcome | undefined {
  const isNew = situation.cluster.status?.initialized !== true;
  const going = stopping.filter(
    (index) => holders.includes(index) && isGoing(situation, index) && !(isNew && isBlank(situation.claims.get(index))),
  );
  const kept = holders.filter(
    (index) => !going.includes(index) && !isOnItsWay(situation, index) && hasData(situation, index),
  );
  const isEnough = situation.members !== undefined && kept.length >= quorumOf(holders.length);
  if (going.length === 0 || isEnough) return undefined;
  const words = `${goingNames(situation, going)}, and each goes when its pod stops: nobody is stopped or removed`;
  return blocked('VolumesGoing', `${words}; ${adviceFor(situation)}`);
}

/** Its volume is still there, and goes whatever the operator does: its pod is being stopped, or has gone. */
function isOnItsWay(situation: Situation, index: number): boolean {
  const pod = situation.pods.get(index);
  const isStaying = pod !== undefined && pod.metadata.deletionTimestamp === undefined;
  return !isStaying && isVolumeGoing(pod, claimOf(situation, index));
}

function hasData({ cluster, claims, observed }: Situation, index: number): boolean {
  const pod = podName(cluster.metadata.name, index);
  return !isBlank(claims.get(index)) || answering(observed.members).some((member) => member.pod === pod);
}

/** Where no majority answers nobody would be given the data of the others. */
function adviceFor({ members }: Situation): string {
  return members === undefined
    ? keepVolumes
    : 'set replicas to three or more, and while all members are well delete the pods one at a time, each when the member before has been replaced and the new one has the data from the others';
}

const keepVolumes = 'set persistentVolumeReclaimPolicy: Retain on their PersistentVolumes before a pod stops';

/** While no majority answers: why members that cannot start are not made anew. Empty where there are none. */
export function heldForVolumes(situation: Situation): string {
  const held = [...situation.pods].flatMap(([index, pod]) =>
    isGoing(situation, index) && !isRunning(pod) ? [index] : [],
  );
  if (held.length === 0) return '';
  return `; ${goingNames(situation, held)}, which goes with the pod, so that none of these is restarted: ${keepVolumes}`;
}

function goingNames({ cluster }: Situation, going: readonly number[]): string {
  return `somebody has deleted the volume(s) ${going.map((index) => claimName(cluster.metadata.name, index)).join(', ')} (or taken the claims' labels)`;
}
