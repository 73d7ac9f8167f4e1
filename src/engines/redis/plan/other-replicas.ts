/**
 * Servers elsewhere that copy from the primary: an export, a cluster that is about to take over. They are no nodes: nobody waits for them, counts
 * them, or is told of them. But Sentinel takes each one that lets it in for a node, and may elect it.
 */
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** Of those that the primary counts as in sync, the cluster's own. */
export function ownReplicas({ dataPods }: Pick<Situation, 'dataPods'>, { replicas }: DataNode): readonly string[] {
  const own = new Set(dataPods.map((pod) => pod.status?.podIP));
  return replicas.filter((address) => own.has(address));
}

/** Those that a sentinel reaches, and may elect. */
export function otherReplicaWarnings({ dataPods, topology }: Situation): SpecWarning[] {
  const own = new Set(dataPods.map((pod) => pod.status?.podIP));
  const { primary, watching } = topology;
  const electable = watching.flatMap(({ view }) =>
    view.primary !== primary?.address
      ? []
      : view.replicas.filter(
          ({ address, priority, down, unheard }) => !down && unheard !== true && priority > 0 && !own.has(address),
        ),
  );
  // One that has just gone is no server elsewhere: the primary counts it no more.
  const addresses = [...new Set(electable.map(({ address }) => address))].filter(
    (address) => primary?.replicas.includes(address) === true,
  );
  if (addresses.length === 0) return [];
  return [
    {
      reason: 'OtherReplicaElectable',
      message: `${addresses.sort().join(', ')} copies from the primary, is no node of this cluster, and may be elected by Sentinel: set replica-priority 0 there`,
    },
  ];
}
