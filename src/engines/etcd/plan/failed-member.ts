/**
 * Which member will not come back by itself.
 *
 * Only such a member is replaced, and only while a majority of voters is healthy without it. Silence alone says nothing:
 * a pod that starts again, a slow network and a busy machine all end by themselves. What counts is a volume that is not
 * the member's own, data that etcd itself calls blank or unreadable, data that the others outvote, a database that the volume
 * has no room to take up, or a pod that Kubernetes has given up.
 */
import type { Pod } from '../../../resources/children.ts';
import { versionLabel } from '../kind/versions.ts';
import { isCorruption } from '../observe/observed.ts';
import { heldBy, holds, isHealthy, type Member, quorumOf, type Situation, voters } from '../observe/situation.ts';
import { failsToCatchUp } from '../observe/snapshot-failures.ts';
import { complaintOf, isRunning } from '../observe/termination-message.ts';
import { isResuming } from '../resources/roster.ts';
import { isOutvoted } from './comparison.ts';
import { neverCame } from './newcomer.ts';
import { isOutdated } from './outdated.ts';

/** Beyond the grace that a terminating pod has: its node does not answer. */
const terminatingMs = 60_000;
/** For a process that crashes again and again, and for a volume that is bound to a node that is gone. */
const patienceMs = 180_000;
const manyRestarts = 5;

/** Why the member is lost, in words; undefined for one that is well or may be soon. */
export function failureOf(situation: Situation, member: Member): string | undefined {
  const { observed, roster, claims, pods, cluster } = situation;
  const { agreed, at } = observed;
  const { index, id } = member;
  if (agreed === undefined || index === undefined) return undefined;
  // It runs, and may even answer. One without a vote has a blank volume: its successor would have no more room.
  if (!member.isLearner && failsToCatchUp(situation, member)) {
    return 'it fails again and again to take up the snapshot of its leader';
  }
  if (member.live !== undefined) return undefined;
  if (!member.hasStarted) {
    const pod = pods.get(index);
    return pod === undefined ? undefined : (givenUp(situation, member, pod) ?? neverCame(pod, at));
  }
  const start = roster.get(index);
  const claim = claims.get(index);
  const resumes = start === undefined || isResuming(cluster, index, start);
  if (resumes && claim === undefined) return 'its volume is gone';
  if (resumes && heldBy(claim) !== holds(agreed.clusterId, id)) return 'its volume is another one';
  const pod = pods.get(index);
  const complaint = complaintOf(pod);
  // Whatever else there is to say of its process: who is wrong only the others can tell, and it may be the only good one.
  const isDoubtful = complaint === 'inconsistent' && !isOutvoted(situation, member);
  if (isDoubtful) return undefined;
  if (complaint !== 'none' && !isRunning(pod)) {
    if (complaint === 'unreadable') return 'it cannot read its data';
    if (complaint === 'shortened') return 'its log has lost entries that it has acknowledged';
    if (complaint === 'inconsistent') return 'its data differs';
    if (resumes) return 'its volume is blank';
  }
  return pod === undefined ? undefined : givenUp(situation, member, pod);
}

function givenUp(situation: Situation, member: Member, pod: Pod): string | undefined {
  const { at } = situation.observed;
  const { deletionTimestamp } = pod.metadata;
  // The API server sets it to the end of the grace.
  if (deletionTimestamp !== undefined) {
    return at - Date.parse(deletionTimestamp) > terminatingMs ? 'its node does not answer' : undefined;
  }
  const conditions = pod.status?.conditions ?? [];
  const since = (type: string): number => {
    const condition = conditions.find((candidate) => candidate.type === type && candidate.status === 'False');
    return condition?.lastTransitionTime === undefined ? 0 : at - Date.parse(condition.lastTransitionTime);
  };
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  if (/volume node affinity/.test(scheduled?.message ?? '') && since('PodScheduled') > patienceMs) {
    return 'the node of its volume is gone';
  }
  return crashes(pod) && since('Ready') > patienceMs && isAloneInIt(situation, pod, member)
    ? 'its process ends again and again'
    : undefined;
}

function crashes(pod: Pod): boolean {
  return (pod.status?.containerStatuses ?? []).some(
    ({ restartCount = 0, state, lastState }) =>
      restartCount >= manyRestarts &&
      state?.waiting?.reason === 'CrashLoopBackOff' &&
      // More memory is what it needs, not another volume.
      lastState?.terminated?.reason !== 'OOMKilled',
  );
}

/**
 * Somebody else runs the same version well: it is the data that keeps this one from running. Of a member that has never run
 * there is none, so the other has to run by the template of now: otherwise the next one would end as well, and the one
 * after that, and leave a volume each.
 */
function isAloneInIt(situation: Situation, pod: Pod, { hasStarted }: Member): boolean {
  const { pods, members = [] } = situation;
  const versionOf = (candidate: Pod | undefined): string | undefined => candidate?.metadata.labels?.[versionLabel];
  return members.some(
    (member) =>
      member.index !== undefined &&
      isHealthy(member) &&
      versionOf(pods.get(member.index)) === versionOf(pod) &&
      (hasStarted || !isOutdated(situation, member)),
  );
}

/** Whether those who stay, and whose data is sound, are a majority without it, now and afterwards (safety rule E1). */
export function isReplaceable({ observed }: Situation, members: readonly Member[], lost: Member): boolean {
  if (lost.isLearner) return true;
  const corrupt = new Set((observed.agreed?.alarms ?? []).filter(isCorruption).map(({ memberId }) => memberId));
  const sound = voters(members).filter(({ id }) => id !== lost.id && !corrupt.has(id));
  return sound.filter(isHealthy).length >= quorumOf(voters(members).length);
}
