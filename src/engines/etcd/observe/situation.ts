/** Everything the etcd rules look at, gathered once a pass: members by their number, and what is known of each. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Children, Claim, Pod, StatefulSet } from '../../../resources/children.ts';
import { memberLabel } from '../../../resources/metadata.ts';
import type { Target } from '../action.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import {
  claimName,
  etcdNames,
  holdsAnnotation,
  indexInName,
  indexInPodName,
  indexInUrl,
  podName,
  retiredAnnotation,
} from '../names.ts';
import { type Roster, readRoster } from '../resources/roster.ts';
import { answering, type EtcdObserved, type ListedMember, type LiveMember } from './observed.ts';

/** A member by etcd's own list, with its process where that answers. */
export interface Member extends ListedMember {
  /** Absent for a member that is none of ours: neither its peer URL is, nor its name. */
  readonly index?: number;
  /** It is one of ours, and etcd's list has another peer URL for it. */
  readonly isElsewhere?: true;
  readonly live?: LiveMember;
}

export interface Situation {
  readonly cluster: Cluster<EtcdSpec>;
  readonly spec: EtcdSpec;
  readonly children: Children;
  readonly observed: EtcdObserved;
  /** As it is written down; empty where there is none of this very cluster. */
  readonly roster: Roster;
  /** By number; those that belong to this very cluster. */
  readonly sets: ReadonlyMap<number, StatefulSet>;
  /** By number, those of removed members left out. They outlive the cluster that they were made for. */
  readonly claims: ReadonlyMap<number, Claim>;
  readonly pods: ReadonlyMap<number, Pod>;
  /** Every number of which there is a trace: none of them is given to a new member. */
  readonly taken: ReadonlySet<number>;
  /** Undefined while no majority has confirmed a list. */
  readonly members?: readonly Member[];
  readonly leader?: Member & { readonly live: LiveMember };
}

export function situationOf(cluster: Cluster<EtcdSpec>, children: Children, observed: EtcdObserved): Situation {
  const { metadata, spec } = cluster;
  const ours = (object: KubeObject): boolean =>
    metadata.uid !== undefined &&
    (object.metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === metadata.uid);
  const byIndex = <T extends KubeObject>(objects: readonly T[]): Map<number, T> =>
    new Map(
      objects.flatMap((object): [number, T][] => {
        const index = indexInName(metadata.name, object.metadata.labels?.[memberLabel]);
        return index === undefined ? [] : [[index, object]];
      }),
    );
  /** A set that somebody has made larger has second claims. */
  const isOfFirst = (claim: Claim): boolean => {
    const index = indexInName(metadata.name, claim.metadata.labels?.[memberLabel]);
    return index !== undefined && claim.metadata.name === claimName(metadata.name, index);
  };
  const record = children.get('ConfigMap', etcdNames(metadata.name).roster);
  const roster =
    record !== undefined && ours(record)
      ? readRoster(cluster, (record.data ?? {}) as Readonly<Record<string, string>>)
      : new Map();
  /** Somebody may have made a copy of one under another name, with its labels and its owner. */
  const isMembers = ({ metadata: { name, labels } }: KubeObject): boolean => name === labels?.[memberLabel];
  const sets = byIndex(
    children.objects.filter((o): o is StatefulSet => o.kind === 'StatefulSet' && ours(o) && isMembers(o)),
  );
  const claims = [...byIndex(children.claims.filter(isOfFirst))];
  const members = membersOf(cluster, observed);
  const leader = members?.find((member) => member.live !== undefined && member.live.leaderId === member.id);
  return {
    cluster,
    spec,
    children,
    observed,
    roster,
    sets,
    claims: new Map(claims.filter(([, claim]) => !isRetired(claim))),
    pods: new Map(
      children.pods.flatMap((pod): [number, Pod][] => {
        const index = indexInPodName(metadata.name, pod.metadata.name);
        return index === undefined ? [] : [[index, pod]];
      }),
    ),
    taken: new Set([
      ...roster.keys(),
      ...sets.keys(),
      ...byIndex(children.claims).keys(),
      ...(members ?? []).flatMap(({ index }) => index ?? []),
    ]),
    ...(members === undefined ? {} : { members }),
    ...(leader?.live === undefined ? {} : { leader: { ...leader, live: leader.live } }),
  };
}

/**
 * Which of ours a member is its peer URL tells. Where somebody has given it another one (`etcdctl member update`), or where
 * the resource was made again with TLS among peers and without it before, the name of its process still does: nothing of
 * a member that etcd lists is taken away for its URL.
 */
function membersOf(cluster: Cluster<EtcdSpec>, { agreed, members }: EtcdObserved): Member[] | undefined {
  if (agreed === undefined) return undefined;
  const live = answering(members);
  const byUrl = ({ peerUrls }: ListedMember): number | undefined =>
    peerUrls.flatMap((url) => indexInUrl(cluster, url) ?? [])[0];
  const known = new Set(agreed.members.map(byUrl));
  const byName = ({ name }: ListedMember): number | undefined => {
    const index = indexInName(cluster.metadata.name, name);
    return known.has(index) ? undefined : index;
  };
  const found = agreed.members.map((listed): Member => {
    const here = byUrl(listed);
    const index = here ?? byName(listed);
    const process = live.find((candidate) => candidate.memberId === listed.id);
    const isOurs = process !== undefined && process.clusterId === agreed.clusterId;
    return {
      ...listed,
      ...(index === undefined ? {} : { index }),
      ...(index === undefined || here !== undefined ? {} : { isElsewhere: true }),
      ...(isOurs ? { live: process } : {}),
    };
  });
  // etcd lists them by its own numbers; those that are none of ours come last.
  const place = ({ index }: Member): number => index ?? Number.MAX_SAFE_INTEGER;
  return found.sort((a, b) => place(a) - place(b));
}

export function isRetired(claim: Claim): boolean {
  return claim.metadata.annotations?.[retiredAnnotation] !== undefined;
}

/** What a claim says about whose data it holds, in the form of `holds`. */
export function heldBy(claim: Claim | undefined): string | undefined {
  return claim?.metadata.annotations?.[holdsAnnotation];
}

/** In the hexadecimal form that etcd's own tools and logs show. */
export function holds(clusterId: string, memberId: string): string {
  return `${hexadecimal(clusterId)}/${hexadecimal(memberId)}`;
}

export function hexadecimal(id: string): string {
  return BigInt(id).toString(16);
}

export function voters(members: readonly Member[]): Member[] {
  return members.filter((member) => !member.isLearner);
}

/** It answers, knows a leader, and belongs to the cluster that the majority agrees on. */
export function isHealthy(member: Member): boolean {
  return member.live?.leaderId !== undefined;
}

/** More than half. */
export function quorumOf(votes: number): number {
  return Math.floor(votes / 2) + 1;
}

/** For messages: the pod's name, or what else there is of a member that is none of ours. */
export function nameOf({ metadata }: Cluster, member: Pick<Member, 'index' | 'name' | 'id'>): string {
  if (member.index !== undefined) return podName(metadata.name, member.index);
  return member.name === '' ? hexadecimal(member.id) : member.name;
}

export function targetOf(member: { readonly live: LiveMember }): Target {
  return { pod: member.live.pod, address: member.live.address };
}

/** The next number that has never been given, as far as any trace tells. */
export function nextIndex({ taken }: Pick<Situation, 'taken'>): number {
  return Math.max(-1, ...taken) + 1;
}

export function claimOf({ children, cluster }: Situation, index: number): Claim | undefined {
  return children.claims.find((claim) => claim.metadata.name === claimName(cluster.metadata.name, index));
}
