/**
 * Brings the cluster's identity to processes that run: see `identity.ts`. Data nodes are told first, all of them before
 * anybody logs in as the cluster, since who is not known is let in nowhere. Pods that are made now know it from their start; those
 * from before, and what they are told again after a restart, until there is another reason to restart them.
 */
import type { ActStep, ObjectStep } from '../../../plan/plan.ts';
import type { RedisAction, Target } from '../action.ts';
import { redisNames } from '../names.ts';
import { answering, type DataNode, hasAll, type SentinelNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { redisResources } from '../resources/resources.ts';

type Act = ActStep<RedisAction>;

const target = ({ pod, address }: Target): Target => ({ pod, address });

/** The Secret of a cluster that is older than its identity. Nobody sees whether it is there but who reads it. */
export function secretSteps(
  { cluster, observed }: Pick<Situation, 'cluster' | 'observed'>,
  others: readonly ObjectStep[],
): ObjectStep[] {
  const { internal } = redisNames(cluster.metadata.name);
  const isMade = others.some((step) => step.type === 'create' && step.object.metadata.name === internal);
  if (observed.identity !== 'missing' || isMade) return [];
  return redisResources(cluster).flatMap(({ object, generate }) =>
    object.metadata.name === internal && generate !== undefined
      ? [{ type: 'create', object, generate, optional: true }]
      : [],
  );
}

export function planIntroductions({ observed, nodes }: Pick<Situation, 'observed' | 'nodes'>): Act[] {
  if (observed.identity !== undefined) return [];
  return nodes
    .filter((node) => !hasAll(node, 'identity'))
    .map((node) => ({
      type: 'act',
      action: { type: 'redis.identify', node: target(node) },
      summary: `tell ${node.pod} who the cluster is`,
    }));
}

/** Whether every data node that answers lets the cluster in by its own name. */
function isIntroduced({ observed, nodes }: Pick<Situation, 'observed' | 'nodes'>): boolean {
  return observed.identity === undefined && nodes.every((node) => hasAll(node, 'identity'));
}

/**
 * Whether a sentinel is told to log in to data nodes as the cluster. One that knows the identity always is: that it does
 * stands for its logging in by it, and the nodes are told in the same pass.
 */
export function watchesAsCluster(situation: Situation, sentinel: SentinelNode): boolean {
  return situation.observed.identity === undefined && (hasAll(sentinel, 'identity') || isIntroduced(situation));
}

/** Each sentinel that hears of it calls the others anew: one at a time, and not before all of them know who calls. */
function planMeetings({ observed, sentinelSize }: Situation): Act[] {
  const sentinels = answering(observed.sentinels);
  if (sentinels.length < sentinelSize || sentinels.some((one) => !hasAll(one, 'identity'))) return [];
  const [sentinel] = sentinels.filter((one) => !hasAll(one, 'peers'));
  if (sentinel === undefined) return [];
  return [
    {
      type: 'act',
      action: { type: 'redis.meetAs', sentinel: target(sentinel) },
      summary: `have ${sentinel.pod} meet the other sentinels as the cluster`,
    },
  ];
}

/** Of sentinels one at a time: each loses its connections for a moment. */
export function planLogins(situation: Situation, primary: DataNode): Act[] {
  const { observed, nodes, topology, dataSize } = situation;
  if (!isIntroduced(situation) || nodes.length < dataSize || topology.failingOver) return [];
  const copying = nodes
    .filter((node) => !hasAll(node, 'replication'))
    .map(
      (node): Act => ({
        type: 'act',
        action: { type: 'redis.replicateAs', node: target(node) },
        summary: `have ${node.pod} copy as the cluster`,
      }),
    );
  const [sentinel] = answering(observed.sentinels).filter(
    (one) => !hasAll(one, 'identity') && one.view?.primary === primary.address,
  );
  if (sentinel === undefined) return [...copying, ...planMeetings(situation)];
  return [
    ...copying,
    {
      type: 'act',
      action: { type: 'redis.watchAs', sentinel: target(sentinel) },
      summary: `have ${sentinel.pod} watch as the cluster`,
    },
  ];
}
