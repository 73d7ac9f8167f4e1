/** Volumes whose claims somebody has deleted while their nodes run: each goes when its pod stops. */
import { claimGivenTo } from '../../../../plan/claimed.ts';
import { isVolumeGoing } from '../../../../plan/going-volumes.ts';
import { blocked, type Outcome } from '../../../../plan/plan.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';
import { claimOf } from '../../observe/situation.ts';

/** Why these pods are not to stop; undefined where each has its data from the primary of its shard afterwards. */
export function goingVolumesOutcome(situation: ShardsSituation, stopping: readonly string[]): Outcome | undefined {
  const [problem] = stopping.flatMap((pod) => goingVolumeProblem(situation, pod) ?? []);
  return problem === undefined ? undefined : blocked('VolumesGoing', problem);
}

export function goingVolumeProblem({ children, shards, dataPods }: ShardsSituation, name: string): string | undefined {
  const pod = dataPods.find(({ metadata }) => metadata.name === name);
  const shard = shards.find(({ pods }) => pods.some(({ metadata }) => metadata.name === name));
  const hasOther = shard?.primary !== undefined && shard.primary.pod !== name;
  if (hasOther || !isVolumeGoing(pod, claimOf(children, name))) return undefined;
  return `somebody has deleted the volume ${claimGivenTo(name)} (or taken the claim's labels), and it goes when ${name} stops, which no primary has the data of: it is not restarted; set replicasPerShard to 1 or more first, or persistentVolumeReclaimPolicy: Retain on its PersistentVolume`;
}
