/** What servers of a Redis Cluster run with besides. */
import { replicasPerShardOf } from '../../kind/shards.ts';

/**
 * Decided for every cluster, and put back where somebody changes it. A replica stays in its shard, nobody reads what may be old while the
 * cluster is down, and a replica that has been without its primary for long is not elected.
 */
export const clusterSettings = {
  'cluster-allow-replica-migration': 'no',
  'cluster-allow-reads-when-down': 'no',
  'cluster-replica-validity-factor': '10',
} as const;

/** What a spec without these has. */
export function ofShards(spec: { readonly replicasPerShard?: number | undefined }): Readonly<Record<string, string>> {
  return {
    databases: '1',
    // A primary of a minority refuses writes after this time, and a replica is elected soon after it.
    'cluster-node-timeout': '5000',
    // As with Sentinel: with one replica, writes would stop as soon as it is away.
    ...(replicasPerShardOf(spec) >= 2 ? { 'min-replicas-to-write': '1' } : {}),
  };
}
