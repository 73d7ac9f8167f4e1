/**
 * The shell in pods of mode Cluster. See `../scripts.ts` for what holds of all scripts.
 *
 * Roles and slots are in nodes.conf on the volume, which only the server writes. The one rule behind these scripts: **a node never serves slots
 * with less than the data that it has acknowledged**: it keeps its ID only together with its data, and is not elected before its append-only file
 * holds what it has copied. A primary whose process was killed lets a replica take over before it starts.
 */
import { shardClientRule } from '../client-rule.ts';
import { scripts } from '../scripts.ts';
import { texts } from '../shell/texts.ts';

/** File name in the ConfigMap to text. */
export const shardScripts = {
  'library.sh': scripts['library.sh'],
  'volume.sh': scripts['volume.sh'],
  'alive.sh': scripts['alive.sh'],
  'exporter.sh': scripts['exporter.sh'],
  /** What the others source: asking nodes as the cluster, finding nodes at new addresses, and who may be elected. */
  'shard.sh': texts['shard.sh'],
  /** Entry point. On a blank volume the server gives itself a new ID, and has no slots: the operator makes it a replica.
   * `/data/running` is the server's pidfile: there, where it was not stopped in order. */
  'start-shard.sh': texts['start-shard.sh'].replace('SHARD_CLIENT_RULE', shardClientRule.join(' ')),
  /** Startup probe: a primary with slots, or a replica whose append-only file holds what it has copied. */
  'admit-shard.sh': texts['admit-shard.sh'],
  /** Readiness, as `ping.sh`. When the cluster is down, it looks for nodes that have another address. */
  'ready-shard.sh': texts['ready-shard.sh'],
  /** preStop: a replica takes over by `CLUSTER FAILOVER` before the server gets SIGTERM. Bounded at about 10 s, and 20 s for a copy. */
  'hand-over-shard.sh': texts['hand-over-shard.sh'],
} as const;

export type ShardScriptName = keyof typeof shardScripts;
