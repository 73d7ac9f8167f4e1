/**
 * What a person writes to have a cluster go on with one member's data: `POD@UID/GENERATION/APPLIED`.
 *
 * It is bound to the very cluster, to the spec as it was then, and to how far the member's data went when its numbers were
 * read in the status. As soon as a majority has answered again that number has grown, so a request that was kept, in Git
 * or in a backup of the custom resource, is never carried out a second time.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { podName, recoverAnnotation } from '../names.ts';
import type { EtcdObserved, Progress } from '../observe/observed.ts';
import { heldBy, holds, type Situation } from '../observe/situation.ts';
import { isGoing } from './going-volumes.ts';

/** For how long no pod may have been ready: a start of a machine, or an election under load, is no loss. */
export const lastingMs = 60_000;

interface Survivor {
  readonly pod: string;
  readonly applied: number;
  readonly revision: string;
  /** Its volume goes with its pod, which has to start anew. */
  readonly isGoing: boolean;
}

/** Who could be gone on with: their volumes hold data of this cluster, and they say how much. The one with most first. */
function survivors(situation: Situation): Survivor[] {
  const { cluster, claims, observed } = situation;
  return [...claims]
    .flatMap(([index, claim]): Survivor[] => {
      const pod = podName(cluster.metadata.name, index);
      const held = heldBy(claim);
      const progress = held === undefined ? undefined : progressOf(observed.members, pod, held);
      return progress === undefined ? [] : [{ pod, ...progress, isGoing: isGoing(situation, index) }];
    })
    .sort((a, b) => b.applied - a.applied);
}

/**
 * How far the pod's data goes. Undefined where it does not say, has yet to copy the others', or where somebody else answers
 * at its address than the member whose data its volume holds: the next one may have it before Kubernetes tells of that.
 */
function progressOf(members: EtcdObserved['members'], pod: string, held: string): Progress | undefined {
  const member = members.find((candidate) => candidate.pod === pod);
  if (member === undefined) return undefined;
  if (member.state === 'silent') {
    const { progress } = member;
    const isOwn = progress?.memberId === undefined || held.endsWith(`/${progress.memberId}`);
    return isOwn ? progress : undefined;
  }
  const isOwn = holds(member.clusterId, member.memberId) === held;
  return member.isLearner || !isOwn ? undefined : { applied: member.applied, revision: member.revision };
}

function requestFor({ metadata }: Cluster<EtcdSpec>, { pod, applied }: Survivor): string {
  return `${pod}@${metadata.uid}/${metadata.generation}/${applied}`;
}

/**
 * Since when no pod has been ready, by the kubelets and by Kubernetes' watch over them: a member is ready as long as it
 * knows a majority. Undefined where one is ready, or where there is no pod to tell by. In milliseconds.
 */
function lostSince({ pods }: Situation): number | undefined {
  const since = [...pods.values()].map(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const changed = ready?.status === 'True' ? undefined : (ready?.lastTransitionTime ?? metadata.creationTimestamp);
    return changed === undefined ? Number.NaN : Date.parse(changed);
  });
  const latest = Math.max(...since);
  return Number.isFinite(latest) ? latest : undefined;
}

export function hasLasted(situation: Situation): boolean {
  const since = lostSince(situation);
  return since !== undefined && situation.observed.at - since >= lastingMs;
}

/** What may be written, and what stands behind it; empty where nobody could be gone on with. */
export function offers(situation: Situation): string {
  const all = survivors(situation);
  const found = all.filter(({ isGoing }) => !isGoing);
  const going = all.flatMap(({ pod, isGoing }) => (isGoing ? [pod] : []));
  const doomed =
    going.length === 0
      ? ''
      : `; somebody has deleted a claim, and the volume of ${going.join(', ')} goes with its pod: set persistentVolumeReclaimPolicy: Retain on its PersistentVolume, and save its data (etcdctl snapshot save, where it answers)`;
  if (found.length === 0) return doomed;
  const words = found.map((survivor) => `${requestFor(situation.cluster, survivor)} (revision ${survivor.revision})`);
  return `${doomed}; if the others are lost for good, annotate with ${recoverAnnotation}=POD@UID/GENERATION/APPLIED of the member to go on with: ${words.join(', ')}`;
}

export type Verdict =
  | { readonly state: 'granted'; readonly survivor: number }
  /** It would be granted; the loss is too young. */
  | { readonly state: 'early'; readonly message: string }
  | { readonly state: 'refused'; readonly message: string };

const form = /^([^@/]+)@([^@/]+)\/(\d+)\/(\d+)$/;

/** `asked`: the annotation's value. No majority answers. */
export function judged(situation: Situation, asked: string): Verdict {
  const { cluster, claims, observed } = situation;
  const { name, uid, generation } = cluster.metadata;
  const refused = (why: string): Verdict => ({
    state: 'refused',
    message: `${recoverAnnotation} ${why}${offers(situation)}`,
  });
  const [, pod = '', forUid, forGeneration, forApplied] = form.exec(asked) ?? [];
  if (forUid === undefined) {
    return refused(`must be POD@UID/GENERATION/APPLIED, such as ${name}-0-0@${uid}/${generation}/1234`);
  }
  if (forUid !== uid) return refused(`is for the cluster with the UID ${forUid.slice(0, 64)}; this one has ${uid}`);
  const [survivor, claim] = [...claims].find(([index]) => podName(name, index) === pod) ?? [];
  const held = heldBy(claim);
  if (survivor === undefined || held === undefined)
    return refused(`names ${pod.slice(0, 64)}, no member whose volume holds data of this cluster`);
  if (Number(forGeneration) !== generation) {
    return refused(`is for generation ${forGeneration} of the spec, which is at ${generation}`);
  }
  const progress = progressOf(observed.members, pod, held);
  if (progress === undefined)
    return refused(`names ${pod}, which does not say how far its data goes: its process must run`);
  if (Number(forApplied) !== progress.applied) {
    return refused(`is for ${pod} at index ${forApplied}, and it has applied ${progress.applied}`);
  }
  if (hasLasted(situation)) return { state: 'granted', survivor };
  const message = `${recoverAnnotation} is carried out when no pod has been ready for ${lastingMs / 1000} s`;
  return { state: 'early', message };
}
