/** The step by which Sentinel is asked for a planned failover: see `switchover.ts` for how it goes. */
import type { ActStep } from '../../../plan/plan.ts';
import type { RedisAction } from '../action.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { target } from './repair.ts';

/** Undefined when there is nobody to hand over to or to ask. */
export function switchoverStep(
  { nodes, topology }: Situation,
  primary: DataNode,
  why: string,
): ActStep<RedisAction> | undefined {
  const replicas = nodes.filter((node) => primary.replicas.includes(node.address)).map(target);
  const sentinel = topology.watching.find((s) => s.view.primary === primary.address);
  if (replicas.length === 0 || sentinel === undefined) return undefined;
  return {
    type: 'act',
    action: { type: 'redis.handOver', primary: target(primary), replicas, sentinel: target(sentinel) },
    summary: `ask Sentinel for a failover: ${why}`,
    event: 'HandOver',
  };
}
