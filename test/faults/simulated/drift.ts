/** What people and other controllers do to our objects behind the operator's back. */
import type { KubeObject } from '../../../src/api/object.ts';
import { resourceOf } from '../../../src/api/resource.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import { copyOf } from '../copies.ts';
import type { Fault } from '../plan.ts';
import type { SimulatedKubernetes } from '../world/kubernetes.ts';
import { pluralOf } from './plural.ts';

type Drift = Extract<Fault, { do: 'drift' }>;

export function findObject(
  kubernetes: SimulatedKubernetes,
  resource: string,
  name: string,
  namespace: string,
): KubeObject | undefined {
  return kubernetes
    .objects()
    .find(
      (object) =>
        object.metadata.name === name && object.metadata.namespace === namespace && pluralOf(object) === resource,
    );
}

/** Nothing happens where the object has just gone. */
export async function drift(fault: Drift, object: KubeObject, client: KubeClient): Promise<void> {
  try {
    await tamper(fault, object, client);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function tamper(fault: Drift, object: KubeObject, client: KubeClient): Promise<void> {
  const { name, namespace = '', uid = '' } = object.metadata;
  const ref = { resource: resourceOf(object), namespace, name };
  switch (fault.how) {
    case 'delete':
      await client.remove({ ...ref, uid });
      return;
    case 'edit':
      await client.mergePatch(ref, edit(object), { fieldManager: 'somebody' });
      return;
    case 'relabel':
      await client.mergePatch(
        ref,
        { metadata: { labels: { 'app.kubernetes.io/instance': 'another', 'app.kubernetes.io/version': '0.0' } } },
        { fieldManager: 'somebody' },
      );
      return;
    case 'disown':
      await client.mergePatch(ref, { metadata: { ownerReferences: null } }, { fieldManager: 'somebody' });
      return;
    case 'copy':
      await client.create(copyOf(object));
      return;
    default:
      return fault.how satisfies never;
  }
}

/** A change of a field that is ours, for each kind that we make. */
function edit(object: KubeObject): object {
  switch (object.kind) {
    case 'ConfigMap': {
      const keys = Object.keys(object.data ?? {});
      return { data: { [keys.find((key) => key === 'redis.conf') ?? keys[0] ?? 'key']: 'maxmemory 1\n' } };
    }
    case 'Service':
      // One label more: what is ours is as it was.
      return { spec: { selector: { 'example.com/added': 'nobody' } } };
    case 'PodDisruptionBudget':
      return { spec: { maxUnavailable: 3 } };
    case 'StatefulSet':
      return { spec: { replicas: ((object.spec as { replicas?: number } | undefined)?.replicas ?? 1) + 1 } };
    default:
      return { metadata: { labels: { 'app.kubernetes.io/version': '0.0' } } };
  }
}
