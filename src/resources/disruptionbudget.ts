import type { KubeObject, ObjectMeta } from '../api/object.ts';

/** Whether a drain may evict pods that run and are not ready whatever the budget says. */
export type UnreadyEviction = 'IfHealthyBudget' | 'AlwaysAllow';

/**
 * One voluntary disruption at a time for a group that must not lose two members at once (safety rule G9).
 *
 * Pods that are not ready count against the budget, which is the default of Kubernetes: with two of them, a drain waits. In a group
 * that holds data or votes that is right, since not ready does not mean of no use:
 *
 * - Members of etcd become unready together when the majority is lost, as `/readyz` reads through it. Those that are evicted then
 *   are the ones that the majority needs.
 * - A PostgreSQL member that recovers after a crash is not ready, and may be the former primary, which alone has the newest commits.
 *   While Patroni cannot reach the Kubernetes API, none is ready.
 * - A Redis node that loads its data is not ready, and may be the primary. Without a PVC, an eviction loses the data.
 * - A sentinel that is slow to answer its probe may have voted in an election. It keeps its vote in memory.
 *
 * `AlwaysAllow` is for pods that hold neither, such as poolers: one that is not ready serves nobody, and would only hold up the drain.
 */
export function disruptionBudget(
  metadata: ObjectMeta,
  selector: Readonly<Record<string, string>>,
  unready: UnreadyEviction = 'IfHealthyBudget',
): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: selector },
      // What is the default is left out: a policy of the Kubernetes cluster may set it.
      ...(unready === 'IfHealthyBudget' ? {} : { unhealthyPodEvictionPolicy: unready }),
    },
  };
}
