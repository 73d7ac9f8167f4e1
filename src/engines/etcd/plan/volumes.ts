/**
 * Claims remember whose data they hold, longer than any process and the custom resource itself. The mark tells a
 * member's own volume from a blank one, and this cluster's data from another's.
 */
import { shortened } from '../../../api/bounds.ts';
import type { KubeObject } from '../../../api/object.ts';
import { persistentVolumeClaims, statefulSets } from '../../../api/resource.ts';
import { restoredAnnotation } from '../../../engine/backup-support.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf, statefulSetOf } from '../../../plan/ref.ts';
import type { Claim } from '../../../resources/children.ts';
import { corruptAnnotation, holdsAnnotation, homeAnnotation, retiredAnnotation } from '../names.ts';
import { answering, type EtcdObserved, isCorruption } from '../observe/observed.ts';
import { claimOf, heldBy, hexadecimal, holds, isRetired, type Member, type Situation } from '../observe/situation.ts';
import { complaintOf } from '../observe/termination-message.ts';
import type { Roster } from '../resources/roster.ts';

/** Marks the claims of members that run: from then on a claim without the mark is not theirs. */
export function markSteps({ cluster, members = [], claims, observed }: Situation): ObjectStep[] {
  const { namespace = '' } = cluster.metadata;
  return members.flatMap(({ index, id, live }): ObjectStep[] => {
    const claim = index === undefined ? undefined : claims.get(index);
    const ref = claim === undefined ? undefined : refOf(claim, persistentVolumeClaims);
    if (ref === undefined || live === undefined || observed.agreed === undefined) return [];
    const had = claim?.metadata.annotations ?? {};
    const wanted = { [holdsAnnotation]: holds(observed.agreed.clusterId, id), [homeAnnotation]: namespace };
    const missing = Object.entries(wanted).filter(([annotation, to]) => had[annotation] !== to);
    return missing.length === 0 ? [] : [annotate(ref, had, Object.fromEntries(missing))];
  });
}

function annotate(
  ref: NonNullable<ReturnType<typeof refOf>>,
  had: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): ObjectStep {
  const changes = Object.entries(wanted).map(([annotation, to]) => {
    const from = had[annotation];
    return { path: `metadata.annotations[${annotation}]`, ...(from === undefined ? {} : { from }), to };
  });
  return { type: 'patch', ref, patch: { metadata: { annotations: wanted } }, changes };
}

/**
 * Volumes that were copied from another namespace. Their members know the others by the addresses there, and those take
 * them for the members that they are copies of: they would vote in that cluster with data of their own. Undefined where
 * there are none.
 */
export function copiedVolumes({ cluster, claims }: Situation): string | undefined {
  const homeOf = ({ metadata }: Claim): string | undefined => metadata.annotations?.[homeAnnotation];
  const copies = [...claims.values()].filter(
    (claim) => (homeOf(claim) ?? cluster.metadata.namespace) !== cluster.metadata.namespace,
  );
  const [first] = copies;
  if (first === undefined) return undefined;
  const names = copies.map(({ metadata }) => metadata.name).join(', ');
  return `the volumes ${names} hold members of a cluster in the namespace ${shortened(homeOf(first) ?? '', 63)}, and would vote there: delete these claims, and begin with a backup (bootstrap.restore)`;
}

/** Before its member is removed: under every policy the data of a member that was called corrupt is kept. */
export function keepStep({ claims, observed }: Situation, { index, id }: Member): ObjectStep[] {
  const claim = index === undefined ? undefined : claims.get(index);
  const ref = claim === undefined ? undefined : refOf(claim, persistentVolumeClaims);
  if (ref === undefined || observed.agreed === undefined || isKept(claim)) return [];
  return [annotate(ref, {}, { [corruptAnnotation]: holds(observed.agreed.clusterId, id) })];
}

/** No member has ever run on it, and nobody has filled it. */
export function isBlank(claim: Claim | undefined): boolean {
  return heldBy(claim) === undefined && claim?.metadata.annotations?.[restoredAnnotation] === undefined;
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
  return ref === undefined ? [] : [annotate(ref, {}, { [retiredAnnotation]: heldBy(claim) ?? 'blank' })];
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
  const stopped = [...gone(sets).map((set) => refOf(set, statefulSets)), ...unseen.map(statefulSetOf)].flatMap(
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

function removal(claim: Claim, reason: string): ObjectStep[] {
  const ref = refOf(claim, persistentVolumeClaims);
  return ref === undefined ? [] : [{ type: 'delete', ref, reason }];
}

/**
 * What answers is another cluster than the one whose data the volumes hold: at an address that is used again, for one.
 * Undefined when it is the same. Where no roster says whose volumes count, all do: those of members that such a list does
 * not name would be retired.
 */
export function foreignCluster({ observed, claims, roster }: Situation): string | undefined {
  const { agreed } = observed;
  if (agreed === undefined) return undefined;
  const counts = (index: number): boolean => roster.size === 0 || roster.has(index);
  const marks = [...claims].filter(([index]) => counts(index)).flatMap(([, claim]) => heldBy(claim) ?? []);
  const clusterId = hexadecimal(agreed.clusterId);
  const others = marks.filter((mark) => !mark.startsWith(`${clusterId}/`));
  return others.length === 0
    ? undefined
    : `the members answer for cluster ${clusterId}, and volumes hold data of ${others.join(', ')} (cluster/member)`;
}
