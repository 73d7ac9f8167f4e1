/**
 * The scheduler: a node for every pod. A pod with a volume goes where the volume is; otherwise constraints rule nodes
 * out, and of those that are left the one with the fewest pods of its kind is taken.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { type ClusterState, handOf, keyOf, splitKey } from './cluster-state.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';
import { hasRoom } from './node-room.ts';
import { claimsOf, isTerminating, nodeNameOf, withCondition } from './pod.ts';
import { timestamp } from './registry.ts';
import { matchesSelector } from './selector.ts';
import { isBound, selectedNode } from './volumes.ts';
import { workQueue } from './work-queue.ts';

const hostname = 'kubernetes.io/hostname';

export function runScheduler(state: ClusterState, isUp: (node: string) => boolean): void {
  const { store, time, random } = state;
  const hand = handOf(state, 'scheduler');
  const pending = new Set<string>();
  /**
   * Where pods will be once their volumes are there. No constraint lets another one beside them meanwhile; what is only
   * preferred takes no notice of them.
   */
  const assumed = new Map<string, string>();
  const queue = workQueue(state, [2, 15], schedule);

  store.onCommit(({ resource, before, after, last }) => {
    if (resource === 'pods') {
      const key = keyOf(last);
      if (after !== undefined && nodeNameOf(after) === undefined) {
        pending.add(key);
        if (before === undefined) queue.add(key);
      } else if (after === undefined) {
        pending.delete(key);
        assumed.delete(last.metadata.uid ?? '');
        for (const other of pending) queue.add(other);
      }
    } else if (resource === 'nodes' || resource === 'persistentvolumeclaims') {
      for (const key of pending) queue.add(key);
    }
  });

  function schedule(key: string): void {
    const pod = store.get('pods', ...splitKey(key));
    if (pod === undefined || nodeNameOf(pod) !== undefined || isTerminating(pod)) {
      pending.delete(key);
      return;
    }
    const claims: KubeObject[] = [];
    for (const name of claimsOf(pod).values()) {
      const claim = store.get('persistentvolumeclaims', pod.metadata.namespace, name);
      if (claim === undefined || isTerminating(claim)) {
        refuse(pod, `persistentvolumeclaim "${name}" not found`);
        return;
      }
      claims.push(claim);
    }
    const fixed = claims.map((claim) => claim.metadata.annotations?.[selectedNode]).find((node) => node !== undefined);
    const node = choose(pod, fixed);
    if (node === undefined) {
      refuse(pod, '0 nodes are available');
      return;
    }
    const unbound = claims.filter((claim) => !isBound(claim));
    for (const claim of unbound) {
      const annotations = { ...claim.metadata.annotations, [selectedNode]: node };
      if (claim.metadata.annotations?.[selectedNode] !== node) hand.updateMetadata(claim, { annotations });
    }
    assumed.set(pod.metadata.uid ?? '', node);
    // The binding of the last claim brings the pod back here.
    if (unbound.length > 0) return;
    pending.delete(key);
    hand.updateWhole(pod, {
      ...pod,
      spec: { ...fieldsIn(pod.spec), nodeName: node },
      status: { ...fieldsIn(pod.status), conditions: scheduled(pod, 'True', {}) },
    });
  }

  function refuse(pod: KubeObject, message: string): void {
    hand.updateStatus(pod, { conditions: scheduled(pod, 'False', { reason: 'Unschedulable', message }) });
  }

  function scheduled(pod: KubeObject, status: 'True' | 'False', details: Fields): readonly Fields[] {
    const conditions = itemsIn(fieldsIn(pod.status).conditions);
    return withCondition(conditions, 'PodScheduled', status, timestamp(time.now()), details);
  }

  function choose(pod: KubeObject, fixed: string | undefined): string | undefined {
    const spec = fieldsIn(pod.spec);
    const candidates = [...store.all('nodes')].filter((node) => {
      const { name, labels = {} } = node.metadata;
      if (!isUp(name) || (fixed !== undefined && fixed !== name)) return false;
      const isSelected = Object.entries(fieldsIn(spec.nodeSelector)).every(([label, value]) => labels[label] === value);
      return isSelected && suitsAffinity(spec, labels) && hasRoom(node, pod, store.all('pods'));
    });
    const names = candidates.map((node) => node.metadata.name);
    const all = [...store.all('nodes')].map((node) => node.metadata.name);
    const spreads = itemsIn(spec.topologySpreadConstraints).filter((spread) => spread.topologyKey === hostname);
    const counts = spreads.map((spread) => countOn(pod, fieldsIn(spread.labelSelector)));
    const expected = spreads.map((spread) => countOn(pod, fieldsIn(spread.labelSelector), assumed));
    const apart = requiredApart(spec).map((term) => countOn(pod, fieldsIn(term.labelSelector), assumed));
    const fitting = names.filter(
      (name) =>
        apart.every((count) => (count.get(name) ?? 0) === 0) &&
        spreads.every((spread, at) => {
          if (spread.whenUnsatisfiable !== 'DoNotSchedule') return true;
          const count = expected[at] ?? new Map<string, number>();
          const least = Math.min(...all.filter(isUp).map((other) => count.get(other) ?? 0));
          return (count.get(name) ?? 0) + 1 - least <= Number(spread.maxSkew ?? 1);
        }),
    );
    const everyPod = countOn(pod, undefined);
    const score = (name: string): number =>
      counts.reduce((sum, count) => sum + 1000 * (count.get(name) ?? 0), everyPod.get(name) ?? 0);
    const scored = fitting.map((name) => ({ name, score: score(name) + random() / 2 }));
    return scored.sort((a, b) => a.score - b.score)[0]?.name;
  }

  /** Other pods of the namespace on each node, those on their way out left aside. */
  function countOn(
    pod: KubeObject,
    selector: Fields | undefined,
    coming: ReadonlyMap<string, string> = new Map(),
  ): Map<string, number> {
    const counts = new Map<string, number>();
    for (const other of store.all('pods')) {
      const node = nodeNameOf(other) ?? coming.get(other.metadata.uid ?? '');
      if (node === undefined || isTerminating(other) || other.metadata.uid === pod.metadata.uid) continue;
      if (selector !== undefined) {
        if (other.metadata.namespace !== pod.metadata.namespace) continue;
        if (!matchesSelector(selector, other.metadata.labels ?? {})) continue;
      }
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    return counts;
  }
}

/** One of the terms must hold, if there are any. */
function suitsAffinity(spec: Fields, labels: Readonly<Record<string, string>>): boolean {
  const required = fieldsIn(fieldsIn(spec.affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return itemsIn(fieldsIn(required).nodeSelectorTerms).some((term) => matchesSelector(term, labels));
}

function requiredApart(spec: Fields): readonly Fields[] {
  const anti = fieldsIn(fieldsIn(spec.affinity).podAntiAffinity);
  return itemsIn(anti.requiredDuringSchedulingIgnoredDuringExecution).filter((term) => term.topologyKey === hostname);
}
