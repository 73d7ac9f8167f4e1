/** How the parts of a Redis Cluster are called: StatefulSet `CLUSTER-s3`, pod `CLUSTER-s3-0`. */
import type { KubeObject } from '../../../../api/object.ts';

export function shardSetName(cluster: string, shard: number): string {
  return `${cluster}-s${shard}`;
}

export interface ShardPlace {
  readonly shard: number;
  readonly ordinal: number;
}

/** Undefined for what is no pod of a shard of this cluster, by its name. */
export function placeOf(cluster: string, pod: string): ShardPlace | undefined {
  if (!pod.startsWith(`${cluster}-s`)) return undefined;
  const [, shard, ordinal] = /^(\d{1,2})-(\d{1,2})$/.exec(pod.slice(cluster.length + 2)) ?? [];
  return shard === undefined ? undefined : { shard: Number(shard), ordinal: Number(ordinal) };
}

/** Undefined for what is no StatefulSet of a shard of this cluster, by its name. */
export function shardOfSet(cluster: string, { kind, metadata: { name } }: KubeObject): number | undefined {
  if (kind !== 'StatefulSet' || !name.startsWith(`${cluster}-s`)) return undefined;
  const number = name.slice(cluster.length + 2);
  return /^\d{1,2}$/.test(number) ? Number(number) : undefined;
}

/** The pod that a server says it is, by the DNS name that it announces. */
export function podOfHost(cluster: string, hostname: string | undefined): string | undefined {
  const [pod = '', service] = hostname?.split('.') ?? [];
  return service === cluster && placeOf(cluster, pod) !== undefined ? pod : undefined;
}
