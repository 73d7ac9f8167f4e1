/**
 * The machines: each with its kubelet, its power, and the Node object that tells of it. Of a machine that has been off
 * for a while the node controller says that its pods are not ready; it evicts none.
 */
import type { Network } from '../world/network.ts';
import type { Images } from '../world/workload.ts';
import { type ClusterState, handOf } from './cluster-state.ts';
import { fieldsIn, itemsIn } from './fields.ts';
import { type Kubelet, runKubelet } from './kubelet.ts';
import { nodeCapacity } from './node-room.ts';
import { isReady, nodeNameOf, withCondition } from './pod.ts';
import { timestamp } from './registry.ts';
import type { Volumes } from './volumes.ts';

export interface NodePool {
  readonly names: readonly string[];
  isUp(node: string): boolean;
  stop(node: string): void;
  start(node: string): void;
  kubelet(node: string): Kubelet;
}

/** After which a silent node counts as lost. */
const graceMs = 20_000;

export function runNodePool(options: {
  readonly state: ClusterState;
  readonly count: number;
  readonly network: Network;
  readonly images: Images;
  readonly volumes: Volumes;
}): NodePool {
  const { state, count, network, images, volumes } = options;
  const { store, time, random } = state;
  const hand = handOf(state, 'node-controller');
  const names = Array.from({ length: count }, (_, at) => `node${at + 1}`);
  const down = new Map<string, number>();
  let addresses = 0;

  /** 10.1.x.y, each given out once. */
  function newAddress(): string {
    addresses++;
    return `10.1.${addresses >> 8}.${addresses & 255}`;
  }

  const kubelets = new Map(
    names.map((node, at) => {
      const hostIp = `172.18.0.${at + 2}`;
      return [node, runKubelet({ state, node, hostIp, images, network, volumes, newAddress })];
    }),
  );
  for (const node of names) {
    hand.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: node, labels: { 'kubernetes.io/hostname': node, 'kubernetes.io/os': 'linux' } },
      spec: {},
    });
    mark(node, 'True');
  }

  function mark(node: string, status: 'True' | 'False'): void {
    const object = store.get('nodes', undefined, node);
    if (object === undefined) return;
    const conditions = itemsIn(fieldsIn(object.status).conditions);
    hand.updateStatus(object, {
      capacity: nodeCapacity,
      allocatable: nodeCapacity,
      conditions: withCondition(conditions, 'Ready', status, timestamp(time.now())),
    });
  }

  function lost(node: string): void {
    mark(node, 'False');
    for (const pod of [...store.all('pods')]) {
      if (nodeNameOf(pod) !== node || !isReady(pod)) continue;
      const conditions = itemsIn(fieldsIn(pod.status).conditions);
      const reason = { reason: 'NodeNotReady', message: 'Node is not ready' };
      hand.updateStatus(pod, {
        conditions: withCondition(conditions, 'Ready', 'False', timestamp(time.now()), reason),
      });
    }
  }

  function kubelet(node: string): Kubelet {
    const found = kubelets.get(node);
    if (found === undefined) throw new Error(`there is no node ${node}`);
    return found;
  }

  let stops = 0;
  return {
    names,
    kubelet,
    isUp: (node) => !down.has(node),
    stop(node) {
      kubelet(node).stop();
      if (down.has(node)) return;
      const mine = ++stops;
      down.set(node, mine);
      time.after(graceMs + random() * 5_000, () => {
        if (down.get(node) === mine) lost(node);
      });
    },
    /** The machine boots for some seconds before its kubelet works. */
    start(node) {
      const stop = down.get(node);
      if (stop === undefined) return;
      time.after(1_000 + random() * 2_000, () => {
        if (down.get(node) !== stop) return;
        down.delete(node);
        kubelet(node).start();
        mark(node, 'True');
      });
    },
  };
}
