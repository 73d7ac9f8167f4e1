/**
 * When the memory of a data node may change.
 *
 * What a server is told follows the pods that run, not the spec: the smallest limit of a running pod and of the next one. A larger limit counts
 * when the last pod has it; a smaller one at once, before the first pod restarts with it.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { compareQuantities, unitsOf } from '../../../api/quantity.ts';
import { blocked, type EngineAction, type Plan } from '../../../plan/plan.ts';
import { expandingVolumes } from '../../../plan/volume-expansion.ts';
import type { Pod } from '../../../resources/children.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import { isDataPod } from '../resources/members.ts';
import { dataShareOfLimit, mebibyte, memoryShares } from '../resources/memory-shares.ts';

/** Bytes that every data node has which runs, and the next one will have. Of a pod that is being resized, what its kubelet has set counts, too. */
export function commonLimit(cluster: Cluster<RedisSpec>, dataPods: readonly Pod[]): number {
  const limits = dataPods.flatMap(({ spec, status }) =>
    [spec?.containers, status?.containerStatuses].flatMap((containers) => limitOf(containers) ?? []),
  );
  return Math.min(...[cluster.spec.resources.limits.memory, ...limits].map(unitsOf));
}

/**
 * What a user has set counts where every node has room for it, as admission demands of the spec; until then a node keeps
 * what it has, or gets the share.
 */
export function maxmemoryWithin(limit: number, wanted: string, actual: string | undefined): string {
  if (Number(wanted) < limit) return wanted;
  const has = Number(actual ?? 0);
  return has > 0 && has < limit ? String(has) : memoryShares(limit).maxmemory;
}

type Containers = readonly { readonly name: string; readonly resources?: Resources }[] | undefined;
interface Resources {
  readonly requests?: { readonly memory?: string | number };
  readonly limits?: { readonly memory?: string | number };
}

function limitOf(containers: Containers): string | number | undefined {
  return containers?.find(({ name }) => name === 'redis')?.resources?.limits?.memory;
}

export interface HeldMemory {
  /** The cluster with the resources that its pods have now. */
  readonly cluster: Cluster<RedisSpec>;
  /** Absent where it is not known yet what the nodes hold. */
  readonly message?: string;
}

/**
 * A smaller limit that the data does not fit into: no pod gets it, since none could load with it. Undefined where the limit
 * does not shrink, or the data fits. `sets`: the StatefulSets of data nodes, which have one template.
 *  What nobody can tell is waited for, as long as a process runs that could.
 */
export function heldMemory(
  { cluster, children, nodes }: Pick<Situation, 'cluster' | 'children' | 'nodes'>,
  sets: readonly string[] = [redisNames(cluster.metadata.name).data],
): HeldMemory | undefined {
  const [set] = sets.flatMap((name) => children.statefulSet(name) ?? []);
  const template = set?.spec?.template?.spec?.containers;
  const before = limitOf(template);
  const { memory: wanted } = cluster.spec.resources.limits;
  if (before === undefined || compareQuantities(wanted, before) >= 0) return undefined;
  const requested = template?.find(({ name }) => name === 'redis')?.resources?.requests?.memory;
  const held = withMemory(cluster, before, requested);
  if (nodes.length === 0) {
    const mayTell = children.pods.some((pod) => isDataPod(pod) && pod.status?.phase === 'Running');
    return mayTell ? { cluster: held } : undefined;
  }
  const fullest = nodes.reduce((a, b) => (b.usedMemory > a.usedMemory ? b : a));
  const room = unitsOf(wanted) * dataShareOfLimit;
  if (fullest.usedMemory <= room) return undefined;
  const needed = Math.ceil(fullest.usedMemory / dataShareOfLimit / mebibyte);
  return {
    cluster: held,
    message:
      `resources.limits.memory ${wanted} leaves too little for the data: ${fullest.pod} uses ` +
      `${Math.ceil(fullest.usedMemory / mebibyte)}Mi, which needs a limit of ${needed}Mi; the pods keep ${before}`,
  };
}

/** `requested` is the limit itself where Kubernetes has filled it in. */
function withMemory(
  cluster: Cluster<RedisSpec>,
  limit: string | number,
  requested: string | number | undefined,
): Cluster<RedisSpec> {
  const { resources } = cluster.spec;
  const isOwn = requested !== undefined && (requested !== limit || resources.requests.memory !== undefined);
  const { memory: _, ...others } = resources.requests;
  return {
    ...cluster,
    spec: {
      ...cluster.spec,
      resources: {
        ...resources,
        // In the order of the spec, which the fingerprint of the template is made of.
        requests: isOwn ? { ...resources.requests, memory: requested } : others,
        limits: { ...resources.limits, memory: limit },
      },
    },
  };
}

/** Keys that are deleted or expire make room for a smaller limit, and nobody tells of that. */
const recheckMs = 30_000;

/** Says so where nothing else is to be said. */
export function withHeldMemory<Action extends EngineAction>(plan: Plan<Action>, { message }: HeldMemory): Plan<Action> {
  const { outcome } = plan;
  const isIdle = outcome.state === 'settled' || outcome.reason === expandingVolumes;
  if (message === undefined || !isIdle) return plan;
  return { ...plan, outcome: blocked('MemoryLimitTooLow', message, recheckMs) };
}
