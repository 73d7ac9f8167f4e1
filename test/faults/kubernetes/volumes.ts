/**
 * Volumes of claims: provisioned on the node that the scheduler has chosen, kept while the claim is, lost on request.
 * A claim that a pod on a node uses is not deleted before the pod is gone.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Volume } from '../world/workload.ts';
import { type ClusterState, handOf, keyOf, splitKey } from './cluster-state.ts';
import { equal, fieldsIn } from './fields.ts';
import { claimsOf, nodeNameOf } from './pod.ts';
import { workQueue } from './work-queue.ts';

export const selectedNode = 'volume.kubernetes.io/selected-node';
const protection = 'kubernetes.io/pvc-protection';

export const isBound = (claim: KubeObject): boolean => fieldsIn(claim.status).phase === 'Bound';

const requestsOf = (claim: KubeObject): unknown => fieldsIn(fieldsIn(claim.spec).resources).requests;

export interface Volumes {
  /** The content of a claim's volume. */
  of(claim: KubeObject): Volume;
  lose(namespace: string, claim: string): void;
}

export function runVolumes(state: ClusterState): Volumes {
  const { store } = state;
  const provisioner = handOf(state, 'volume-provisioner');
  const protector = handOf(state, 'pvc-protection-controller');
  const contents = new Map<string, Volume>();
  const provisioning = workQueue(state, [200, 800], provision);
  const resizer = handOf(state, 'volume-resizer');
  const resizing = workQueue(state, [500, 2000], resize);
  const releasing = workQueue(state, [5, 50], release);

  store.onCommit(({ resource, before, after }) => {
    if (resource === 'persistentvolumeclaims') {
      if (after === undefined) contents.delete(before?.metadata.uid ?? '');
      else if (after.metadata.deletionTimestamp !== undefined) releasing.add(keyOf(after));
      else if (!isBound(after) && after.metadata.annotations?.[selectedNode] !== undefined)
        provisioning.add(keyOf(after));
      else if (isBound(after) && !equal(requestsOf(after), fieldsIn(after.status).capacity)) resizing.add(keyOf(after));
    } else if (resource === 'pods' && after === undefined && before !== undefined) {
      for (const claim of claimsOf(before).values()) releasing.add(`${before.metadata.namespace}/${claim}`);
    }
  });

  const claimAt = (key: string): KubeObject | undefined => store.get('persistentvolumeclaims', ...splitKey(key));

  function provision(key: string): void {
    const claim = claimAt(key);
    if (claim === undefined || isBound(claim)) return;
    const spec = fieldsIn(claim.spec);
    const bound = provisioner.update(claim, { ...claim, spec: { ...spec, volumeName: `pvc-${claim.metadata.uid}` } });
    const capacity = requestsOf(claim);
    provisioner.updateStatus(bound, { phase: 'Bound', accessModes: spec.accessModes, capacity });
  }

  function resize(key: string): void {
    const claim = claimAt(key);
    if (claim !== undefined && isBound(claim)) resizer.updateStatus(claim, { capacity: requestsOf(claim) });
  }

  function release(key: string): void {
    const claim = claimAt(key);
    if (claim?.metadata.deletionTimestamp === undefined) return;
    const { namespace, name, finalizers = [] } = claim.metadata;
    if (!finalizers.includes(protection)) return;
    for (const pod of store.all('pods')) {
      // No kubelet starts a pod whose claim is on its way out: one that waits for a node holds nothing.
      if (pod.metadata.namespace !== namespace || nodeNameOf(pod) === undefined) continue;
      if ([...claimsOf(pod).values()].includes(name)) return;
    }
    protector.updateMetadata(claim, { finalizers: finalizers.filter((finalizer) => finalizer !== protection) });
  }

  return {
    of(claim) {
      const uid = claim.metadata.uid ?? '';
      const content = contents.get(uid) ?? new Map<string, unknown>();
      contents.set(uid, content);
      return content;
    },
    lose(namespace, name) {
      const claim = claimAt(`${namespace}/${name}`);
      if (claim === undefined) throw new Error(`there is no claim ${namespace}/${name}`);
      contents.delete(claim.metadata.uid ?? '');
    },
  };
}
