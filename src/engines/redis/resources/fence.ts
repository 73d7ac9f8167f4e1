/**
 * The fence: a primary that is cut off takes no writes, since they would be lost once another is elected. The pod of each data node decides
 * by itself (`shell/fence.sh`); the operator sees it, and does not interfere.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { durationMs } from '../../../api/duration.ts';
import type { RedisSpec } from '../kind/schema.ts';

/** Nobody can be elected in place of a single node, so nothing is lost. */
export function hasFence({ spec: { mode, replicas, sentinel } }: Cluster<RedisSpec>): boolean {
  return mode === 'Sentinel' && replicas > 1 && sentinel.fence.mode !== 'Off';
}

/** `MODE MILLISECONDS`, read at every look. It says `Off`, too: a fence that stands is lifted then. */
export function fenceFiles(cluster: Cluster<RedisSpec>): Readonly<Record<string, string>> {
  const { mode, after } = cluster.spec.sentinel.fence;
  return { fence: `${hasFence(cluster) ? mode : 'Off'} ${durationMs(after)}\n` };
}
