/** The end of a namespace: everything in it is deleted, and when nothing is left, so is the namespace. */
import type { KubeObject } from '../../../src/api/object.ts';
import { type ClusterState, handOf } from './cluster-state.ts';
import { without } from './fields.ts';
import { workQueue } from './work-queue.ts';

export function runNamespaceController(state: ClusterState): void {
  const { store, served } = state;
  const hand = handOf(state, 'namespace-controller');
  const queue = workQueue(state, [20, 100], clear);
  const ending = new Set<string>();

  store.onCommit(({ resource, after, last }) => {
    const { name, namespace } = last.metadata;
    if (resource === 'namespaces') {
      if (after === undefined) ending.delete(name);
      else if (after.metadata.deletionTimestamp !== undefined) {
        ending.add(name);
        queue.add(name);
      }
    } else if (namespace !== undefined && after === undefined && ending.has(namespace)) {
      queue.add(namespace);
    }
  });

  function clear(name: string): void {
    const namespace = store.get('namespaces', undefined, name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    const content: KubeObject[] = [];
    for (const { plural, resource } of served.all) {
      if (!resource.namespaced) continue;
      for (const object of store.all(plural)) if (object.metadata.namespace === name) content.push(object);
    }
    for (const object of content) if (object.metadata.deletionTimestamp === undefined) hand.remove(object);
    if (content.length === 0)
      hand.update(namespace, { ...namespace, spec: without({ ...(namespace.spec as object) }, ['finalizers']) });
  }
}
