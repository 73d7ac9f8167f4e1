/** Everything the rules of mode Cluster look at, gathered once a pass. */
import type { Cluster } from '../../../../api/cluster.ts';
import { isOfPod } from '../../../../plan/claimed.ts';
import { type Children, type Claim, childrenOf, type Pod } from '../../../../resources/children.ts';
import type { ClusterNode } from '../../client/cluster-nodes.ts';
import type { RedisSpec } from '../../kind/schema.ts';
import { replicasPerShardOf, shardsOf } from '../../kind/shards.ts';
import { countSlots, intersectionOf } from '../../kind/slots.ts';
import { formedAnnotation } from '../../names.ts';
import { placeOf, podOfHost, shardOfSet, shardSetName } from '../../resources/shards/names.ts';
import { answering, hasAll } from '../observed.ts';
import { claimOf, podOf } from '../situation.ts';
import type { ShardNode, ShardsObserved } from './observed.ts';

export interface Shard {
  readonly index: number;
  /** Name of its StatefulSet. */
  readonly set: string;
  /** Present size of the StatefulSet. Of one that is not seen: what is wanted, and at least what its pods and marked claims tell. */
  readonly size: number;
  readonly pods: readonly Pod[];
  /** Those that answer. */
  readonly nodes: readonly ShardNode[];
  /** Who serves its slots. In a shard that has none yet, the node that is to. */
  readonly primary?: ShardNode;
  /** It has slots, by its own word or that of others. */
  readonly isServing: boolean;
}

export interface ShardsSituation {
  readonly mode: 'Cluster';
  readonly cluster: Cluster<RedisSpec>;
  readonly spec: RedisSpec;
  /** Of volumes, those that its nodes are given. */
  readonly children: Children;
  readonly observed: ShardsObserved;
  /** Those that answer, and that are in a shard by the names of their pods. */
  readonly nodes: readonly ShardNode[];
  readonly dataPods: readonly Pod[];
  /** Those that there are or should be, by their numbers. */
  readonly shards: readonly Shard[];
  /** All slots have been given away once. From then on a slot without an owner is a loss. */
  readonly isFormed: boolean;
}

export function shardsSituation(
  cluster: Cluster<RedisSpec>,
  found: Children,
  reported: ShardsObserved,
): ShardsSituation {
  const { metadata, spec, status } = cluster;
  const { name } = metadata;
  const children = withOwnClaims(name, found);
  const inShard = (pod: string): boolean => placeOf(name, pod) !== undefined;
  const dataPods = children.pods.filter((pod) => inShard(pod.metadata.name)).sort(byPlace(name));
  const data = reported.data.filter(({ pod }) => inShard(pod));
  const observed = { ...reported, data };
  // Who does not take the identity of this cluster is nobody to act on.
  const nodes = answering<ShardNode>(data).filter((node) => hasAll(node, 'identity'));
  const sets = children.objects.flatMap((object) => shardOfSet(name, object) ?? []);
  const claimed = children.claims.filter(isMarkedFormed).map(podOf);
  const isFormed = status?.initialized === true || claimed.length > 0;
  // A shard that has left is marked on no claim. Its pods may be there a moment longer.
  const marked = isFormed ? claimed : [...dataPods.map((pod) => pod.metadata.name), ...claimed];
  const places = marked.flatMap((pod) => placeOf(name, pod)?.shard ?? []);
  const there = Math.max(0, ...[...sets, ...places].map((i) => i + 1));
  const count = Math.max(shardsOf(spec), there);
  const shards = Array.from({ length: count }, (_, index): Shard => {
    const set = shardSetName(name, index);
    const isIn = (pod: string): boolean => placeOf(name, pod)?.shard === index;
    const pods = dataPods.filter((pod) => isIn(pod.metadata.name));
    const own = nodes.filter(({ pod }) => isIn(pod));
    const serving = servingIn(own);
    const isServing = serving !== undefined || hadSlots(nodes, name, index);
    const primary = serving ?? (isServing ? undefined : seatIn(own));
    return {
      ...{ index, set, pods, nodes: own, isServing },
      size:
        children.statefulSet(set)?.spec?.replicas ??
        Math.max(
          replicasPerShardOf(spec) + 1,
          // Where the resource is created again with fewer replicas, one of those that are to go may be the primary.
          ...sizesTold(name, [...pods.map(({ metadata }) => metadata.name), ...claimed.filter(isIn)]),
        ),
      ...(primary === undefined ? {} : { primary }),
    };
  });
  return { mode: 'Cluster', cluster, spec, children, observed, nodes, dataPods, shards, isFormed };
}

const isMarkedFormed = ({ metadata }: Claim): boolean => metadata.annotations?.[formedAnnotation] !== undefined;

/** Copies of claims that somebody has made say what the originals said. */
function withOwnClaims(name: string, children: Children): Children {
  const others = children.claims.filter((claim) => !isOfPod(claim, name));
  if (others.length === 0) return children;
  return childrenOf(children.objects.filter((object) => !others.some((claim) => claim === object)));
}

function byPlace(cluster: string) {
  const numberOf = (pod: Pod): number => {
    const { shard = 0, ordinal = 0 } = placeOf(cluster, pod.metadata.name) ?? {};
    return shard * 100 + ordinal;
  };
  return (a: Pod, b: Pod): number => numberOf(a) - numberOf(b);
}

function sizesTold(cluster: string, pods: readonly string[]): number[] {
  return pods.map((pod) => (placeOf(cluster, pod)?.ordinal ?? 0) + 1);
}

/**
 * Of two that claim the same slots, the one with the higher epoch: the other has yet to hear of it. Otherwise the one with more slots: a primary that has been
 * replaced may have kept one whose move it has finished, with an epoch that is newer than the election.
 */
export function servingIn<T extends Pick<ShardNode, 'self'>>(nodes: readonly T[]): T | undefined {
  const serving = nodes.filter(({ self }) => self.role === 'primary' && self.slots.length > 0);
  return serving.reduce<T | undefined>(
    (best, node) => (best === undefined || isBefore(node.self, best.self) ? node : best),
    undefined,
  );
}

function isBefore(one: ClusterNode, other: ClusterNode): boolean {
  const more = countSlots(one.slots) - countSlots(other.slots);
  const isSame = more === 0 || intersectionOf(one.slots, other.slots).length > 0;
  return isSame ? one.epoch > other.epoch : more > 0;
}

/** Somebody serves slots of the shard, as far as others know, and is not there: nobody else takes its place by having none. */
function hadSlots(nodes: readonly ShardNode[], cluster: string, shard: number): boolean {
  return nodes.some(({ view }) =>
    view.some(
      ({ slots, hostname }) =>
        slots.length > 0 && placeOf(cluster, podOfHost(cluster, hostname) ?? '')?.shard === shard,
    ),
  );
}

/** In a shard without slots: who has keys that have moved there, whom others of the shard follow, or the first. Of two with keys, a person has made the newer one primary. */
function seatIn(nodes: readonly ShardNode[]): ShardNode | undefined {
  const primaries = nodes.filter(({ self }) => self.role === 'primary');
  const [filled] = primaries.filter(({ empty }) => !empty).sort((a, b) => b.self.epoch - a.self.epoch);
  const followed = primaries.find(({ id }) => nodes.some(({ self }) => self.primaryId === id));
  return filled ?? followed ?? primaries[0];
}

export function claimOfNode({ children }: Pick<ShardsSituation, 'children'>, { pod }: ShardNode): Claim | undefined {
  return claimOf(children, pod);
}

/** Every pod that the spec asks for, in shards that there are already or should be. */
export function wantedPods({ spec, shards }: ShardsSituation): string[] {
  const ordinals = Array.from({ length: replicasPerShardOf(spec) + 1 }, (_, ordinal) => ordinal);
  return shards.flatMap(({ set }) => ordinals.map((ordinal) => `${set}-${ordinal}`));
}

/** In a place that the spec does not want, whether it still serves slots or not. */
export function isToGo({ cluster, spec }: Pick<ShardsSituation, 'cluster' | 'spec'>, pod: string): boolean {
  const { shard = 0, ordinal = 0 } = placeOf(cluster.metadata.name, pod) ?? {};
  return ordinal > replicasPerShardOf(spec) || shard >= shardsOf(spec);
}

/** In a place beyond `replicasPerShard`, or of a shard that has no slots any more and shall have none. */
export function isLeaving({ cluster, spec, shards }: ShardsSituation, pod: string): boolean {
  const { shard = 0, ordinal = 0 } = placeOf(cluster.metadata.name, pod) ?? {};
  if (ordinal > replicasPerShardOf(spec)) return true;
  return shard >= shardsOf(spec) && shards.find(({ index }) => index === shard)?.isServing !== true;
}
