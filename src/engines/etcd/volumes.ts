/**
 * Claims remember whose data they hold, longer than any process and the custom resource itself. The mark tells a
 * member's own volume from a blank one, and this cluster's data from another's.
 */
import type { KubeObject, ObjectRef } from '../../api/object.ts';
import { persistentVolumeClaims, statefulSets } from '../../api/resource.ts';
import type { ObjectStep } from '../../plan/plan.ts';
import { refOf } from '../../plan/ref.ts';
import type { Claim, Pod } from '../../resources/children.ts';
import { corruptAnnotation, holdsAnnotation, retiredAnnotation } from './names.ts';
import { answering, type EtcdObserved, isCorruption } from './observed.ts';
import type { Roster } from './roster.ts';
import { claimOf, heldBy, hexadecimal, holds, isRetired, type Member, type Situation } from './situation.ts';
import { complaintOf } from './termination-message.ts';

/** Marks the claims of members that run: from then on a claim without the mark is not theirs. */
export function markSteps({ members = [], claims, observed }: Situation): ObjectStep[] {
  return members.flatMap(({ index, id, live }): ObjectStep[] => {
    const claim = index === undefined ? undefined : claims.get(index);
    const ref = claim === undefined ? undefined : refOf(claim, persistentVolumeClaims);
    if (ref === undefined || live === undefined || observed.agreed === undefined) return [];
    const from = heldBy(claim);
    const to = holds(observed.agreed.clusterId, id);
    return from === to ? [] : [annotate(ref, holdsAnnotation, from, to)];
  });
}

function annotate(
  ref: NonNullable<ReturnType<typeof refOf>>,
  annotation: string,
  from: string | undefined,
  to: string,
): ObjectStep {
  return {
    type: 'patch',
    ref,
    patch: { metadata: { annotations: { [annotation]: to } } },
    changes: [{ path: `metadata.annotations[${annotation}]`, ...(from === undefined ? {} : { from }), to }],
  };
}

/** Before its member is removed: under every policy the data of a member that was called corrupt is kept. */
export function keepStep({ claims, observed }: Situation, { index, id }: Member): ObjectStep[] {
  const claim = index === undefined ? undefined : claims.get(index);
  const ref = claim === undefined ? undefined : refOf(claim, persistentVolumeClaims);
  if (ref === undefined || observed.agreed === undefined || isKept(claim)) return [];
  return [annotate(ref, corruptAnnotation, undefined, holds(observed.agreed.clusterId, id))];
}

function isKept(claim: Claim | undefined): boolean {
  return claim?.metadata.annotations?.[corruptAnnotation] !== undefined;
}

export interface Retirement {
  /** Before the roster forgets the member: a claim that nobody has marked would be taken for a member's again. */
  readonly marks: readonly ObjectStep[];
  /** After that. */
  readonly removals: readonly ObjectStep[];
}

/** Nothing is ever started on it again. */
export function retiredMark(claim: Claim): ObjectStep[] {
  const ref = refOf(claim, persistentVolumeClaims);
  return ref === undefined ? [] : [annotate(ref, retiredAnnotation, undefined, heldBy(claim) ?? 'blank')];
}

/**
 * What becomes of members that etcd does not list any more: the process is stopped, and the volume is kept, marked so
 * that nothing is ever started on it again. Under `deletionPolicy: Delete` it goes, but for one whose data was called
 * corrupt or is of another cluster, and for any while an alarm says that some data is corrupt: it may be the last of what
 * is right.
 */
export function retireSteps(situation: Situation, roster: Roster): Retirement {
  const { members, sets, pods, claims, spec, observed } = situation;
  if (members === undefined) return { marks: [], removals: [] };
  const gone = <T extends KubeObject>(entries: ReadonlyMap<number, T>): T[] =>
    [...entries]
      .filter(([index, { metadata }]) => !roster.has(index) && metadata.deletionTimestamp === undefined)
      .map(([, entry]) => entry);
  const reason = 'its member has been removed';
  const oldClaims = gone(claims);
  const unseen = gone(new Map([...pods].filter(([index]) => !sets.has(index) && wasMember(situation, index))));
  const stopped = [...gone(sets).map((set) => refOf(set, statefulSets)), ...unseen.map(ownerOf)].flatMap(
    (ref): ObjectStep[] => (ref === undefined ? [] : [{ type: 'delete', ref, reason }]),
  );
  const isKeeping = spec.deletionPolicy !== 'Delete' || isAlarmed(observed) || isDoubted(situation);
  const kept = oldClaims.filter((claim) => isKeeping || isKept(claim) || isOfAnother(situation, claim));
  const deleted = oldClaims.filter((claim) => !kept.includes(claim));
  return {
    marks: kept.flatMap(retiredMark),
    removals: [...stopped, ...deleted.flatMap((claim) => removal(claim, reason))],
  };
}

/** Somebody has put it there: it was never a member's of this cluster. */
function isOfAnother({ observed }: Situation, claim: Claim): boolean {
  const { agreed } = observed;
  const mark = heldBy(claim);
  return agreed !== undefined && mark !== undefined && !mark.startsWith(`${hexadecimal(agreed.clusterId)}/`);
}

function isAlarmed({ agreed }: EtcdObserved): boolean {
  return (agreed?.alarms ?? []).some(isCorruption);
}

/** Somebody does not start for what it has found in others, whether etcd lists it or not. */
function isDoubted({ pods, observed }: Situation): boolean {
  const answers = new Set(answering(observed.members).map(({ pod }) => pod));
  return [...pods.values()].some((pod) => complaintOf(pod) === 'inconsistent' && !answers.has(pod.metadata.name));
}

/** By its claim: a pod that bears the labels of one may be anybody's. */
function wasMember(situation: Situation, index: number): boolean {
  const claim = claimOf(situation, index);
  const clusterId = situation.observed.agreed?.clusterId;
  const isMarked = clusterId !== undefined && heldBy(claim)?.startsWith(`${hexadecimal(clusterId)}/`) === true;
  return isMarked || (claim !== undefined && isRetired(claim));
}

/** Of a pod that runs on where no StatefulSet is seen: somebody has taken its labels, and with them our sight of it. */
function ownerOf({ metadata: { namespace, ownerReferences = [] } }: Pod): (ObjectRef & { uid: string }) | undefined {
  const owner = ownerReferences.find(({ controller, kind }) => controller === true && kind === 'StatefulSet');
  return owner === undefined || namespace === undefined
    ? undefined
    : { resource: statefulSets, namespace, name: owner.name, uid: owner.uid };
}

function removal(claim: Claim, reason: string): ObjectStep[] {
  const ref = refOf(claim, persistentVolumeClaims);
  return ref === undefined ? [] : [{ type: 'delete', ref, reason }];
}

/** What answers is another cluster than the one whose data the volumes hold. Undefined when it is the same. */
export function foreignCluster({ observed, claims, roster }: Situation): string | undefined {
  const { agreed } = observed;
  if (agreed === undefined) return undefined;
  const marks = [...claims].filter(([index]) => roster.has(index)).flatMap(([, claim]) => heldBy(claim) ?? []);
  const clusterId = hexadecimal(agreed.clusterId);
  const others = marks.filter((mark) => !mark.startsWith(`${clusterId}/`));
  return others.length === 0
    ? undefined
    : `the members answer for cluster ${clusterId}, and volumes hold data of ${others.join(', ')} (cluster/member)`;
}
