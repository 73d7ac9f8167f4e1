/** Everything the Redis rules look at, gathered once a pass. */
import type { Cluster } from '../../../api/cluster.ts';
import { isOfPod } from '../../../plan/claimed.ts';
import { type Children, type Claim, childrenOf, type Pod } from '../../../resources/children.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { addressAnnotation, choiceAnnotation, choiceOf, redisNames, termAnnotation } from '../names.ts';
import { isDataPod, isSentinelPod } from '../resources/members.ts';
import { answering, type DataNode, type RedisObserved } from './observed.ts';
import { type Topology, topologyOf, withoutLostFailovers } from './topology.ts';

export interface Situation {
  readonly cluster: Cluster<RedisSpec>;
  readonly spec: RedisSpec;
  /** Of volumes, those that its nodes are given: see `withOwnClaims`. */
  readonly children: Children;
  readonly observed: RedisObserved;
  readonly topology: Topology;
  readonly nodes: readonly DataNode[];
  readonly dataPods: readonly Pod[];
  readonly sentinelPods: readonly Pod[];
  /**
   * Current sizes of the two StatefulSets. Of one that is not seen: what is wanted, and at least what its pods and the
   * last primary tell.
   */
  readonly dataSize: number;
  readonly sentinelSize: number;
}

export function situationOf(cluster: Cluster<RedisSpec>, found: Children, reported: RedisObserved): Situation {
  const names = redisNames(cluster.metadata.name);
  const { spec } = cluster;
  const children = withOwnClaims(cluster, found);
  const dataPods = children.pods.filter(isDataPod);
  const addresses = new Set(dataPods.flatMap((pod) => pod.status?.podIP ?? []));
  const observed = withoutLostFailovers(reported, addresses);
  const nodes = answering(observed.data);
  const [last] = byTerm(children, nodes);
  const lastNode = nodes.find(({ pod }) => pod === last?.pod);
  const watching = answering(observed.sentinels).filter(({ view }) => view !== undefined);
  const isMajority = watching.length >= majorityOf(spec.sentinel.replicas);
  // Somebody was primary after it, as far as is recorded; unless that one follows it, which only Sentinel can have told it, or a
  // majority of the sentinels names the address that it had: then the election has chosen it, by that address.
  const chosen = choiceOf(cluster)?.pod;
  // Several nodes take writes, no sentinel says which of them may, and a person has.
  const isSettledByHand = watching.length === 0 && nodes.some(({ pod, role }) => pod === chosen && role === 'primary');
  const isSuperseded = ({ pod, address }: DataNode, named?: string): boolean =>
    (isSettledByHand && pod !== chosen) ||
    (rankOf(children, nodes, pod) < (last?.term ?? 0) &&
      lastNode?.follows !== address &&
      chosen !== pod &&
      !(
        isMajority &&
        named !== undefined &&
        claimOf(children, pod)?.metadata.annotations?.[addressAnnotation] === named
      ));
  const sentinelPods = children.pods.filter(isSentinelPod);
  const sizeOf = (set: string, pods: readonly string[], wanted: number): number =>
    Math.min(children.statefulSet(set)?.spec?.replicas ?? sizeToldBy(set, pods, wanted), mostPods);
  const led = spec.mode === 'Sentinel' && last !== undefined ? [last.pod] : [];
  return {
    cluster,
    spec,
    children,
    observed,
    topology: topologyOf(observed, addresses, isSuperseded),
    nodes,
    dataPods,
    sentinelPods,
    dataSize: sizeOf(names.data, [...namesOf(dataPods), ...led], spec.replicas),
    sentinelSize: sizeOf(names.sentinel, namesOf(sentinelPods), spec.sentinel.replicas),
  };
}

/**
 * Of a cluster without volumes, what claims of its name say is of an earlier one's data, and what was written on them would be
 * told to the next one. Those that no pod is given are copies that somebody has made, with all that the originals said then.
 */
function withOwnClaims({ metadata, spec }: Cluster<RedisSpec>, children: Children): Children {
  const others = children.claims.filter((claim) => spec.storage.ephemeral || !isOfPod(claim, metadata.name));
  if (others.length === 0) return children;
  return childrenOf(children.objects.filter((object) => !others.some((claim) => claim === object)));
}

/** What others have written is not counted up to: the size of a StatefulSet, the number in the name of a pod. */
const mostPods = 1000;

/**
 * A set that somebody has deleted or taken out of sight is no scale-in: made again smaller, it would stop the others at
 * once, and without the last primary there is nobody to go on with.
 */
export function sizeToldBy(set: string, pods: readonly string[], wanted: number, most = mostPods): number {
  const numbers = pods.flatMap((name) => {
    const number = name.startsWith(`${set}-`) ? name.slice(set.length + 1) : '';
    return /^\d+$/.test(number) && Number(number) < most ? [Number(number)] : [];
  });
  return numbers.reduce((size, number) => Math.max(size, number + 1), wanted);
}

const namesOf = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name);

/** Names of the data pods that a StatefulSet of this size has. */
export function dataPodNames(cluster: Cluster<RedisSpec>, size: number): string[] {
  return Array.from({ length: size }, (_, i) => `${redisNames(cluster.metadata.name).data}-${i}`);
}

/** Of the claim of a data pod. */
const claimPrefix = 'data-';

/** The pod that a claim belongs to. */
export function podOf(claim: Claim): string {
  return claim.metadata.name.slice(claimPrefix.length);
}

export function claimOf(children: Children, pod: string): Claim | undefined {
  return children.claims.find((claim) => claim.metadata.name === `${claimPrefix}${pod}`);
}

/**
 * What a person has to write to choose this very pod. A name alone may stand in a manifest for ever, and would speak for
 * whatever is called so at the next loss.
 */
export function choiceNaming({ dataPods }: Situation, pod: string): string {
  return `${pod}:${dataPods.find(({ metadata }) => metadata.name === pod)?.metadata.uid ?? ''}`;
}

export function isChosen(situation: Situation, pod: string): boolean {
  return situation.cluster.metadata.annotations?.[choiceAnnotation] === choiceNaming(situation, pod);
}

/** Something was written once: it is not for the operator to begin anew. */
export function hasHeldData({ cluster, children, spec }: Situation): boolean {
  if (spec.storage.ephemeral) return false;
  return cluster.status?.initialized === true || children.claims.some((claim) => termOf(claim) > 0);
}

/** 0 where the claim's node has never been primary. */
export function termOf(claim: Claim | undefined): number {
  return Number(claim?.metadata.annotations?.[termAnnotation] ?? 0);
}

/**
 * The last term in which the pod's node was primary, as far as the claim or its volume tells; 0 where it never was. The claim's
 * is the operator's word, the volume's the node's own, for the time that the operator was away.
 */
export function rankOf(children: Children, nodes: readonly DataNode[], pod: string): number {
  const term = nodes.find((node) => node.pod === pod)?.term;
  return Math.max(termOf(claimOf(children, pod)), term?.wasPrimary === true ? term.number : 0);
}

/** Whoever has been primary, the last one first. */
export function byTerm(
  children: Children,
  nodes: readonly DataNode[],
): { readonly pod: string; readonly term: number }[] {
  const pods = new Set([...children.claims.map(podOf), ...nodes.map(({ pod }) => pod)]);
  return [...pods]
    .map((pod) => ({ pod, term: rankOf(children, nodes, pod) }))
    .filter(({ term }) => term > 0)
    .sort((a, b) => b.term - a.term);
}

/** More than half of the sentinels that there should be. */
export function majorityOf(sentinels: number): number {
  return Math.floor(sentinels / 2) + 1;
}

/** A majority of the sentinels watches: the newest of their views is the newest that any majority has agreed to. */
export function hasSentinelMajority({ sentinelSize, topology }: Situation): boolean {
  return topology.watching.length >= majorityOf(sentinelSize);
}
