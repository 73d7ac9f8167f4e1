/**
 * The kubelet of one node: runs the pods that are bound to it, tells their status, ends those that are deleted. While
 * the node is off it does nothing at all; when it comes back, its pods start anew with other addresses.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Network } from '../world/network.ts';
import type { Images, Volume } from '../world/workload.ts';
import { type ClusterState, handOf } from './cluster-state.ts';
import { type Fields, fieldsIn, itemsIn, numberIn } from './fields.ts';
import { couldHold, hasRoom } from './node-room.ts';
import { isTerminating, nodeNameOf, phaseOf } from './pod.ts';
import { createPodWorker, type PodWorker } from './pod-worker.ts';
import type { Volumes } from './volumes.ts';
import { workQueue } from './work-queue.ts';

export interface Kubelet {
  killContainer(uid: string): void;
  stop(): void;
  start(): void;
}

export interface KubeletOptions {
  readonly state: ClusterState;
  readonly node: string;
  readonly hostIp: string;
  readonly images: Images;
  readonly network: Network;
  readonly volumes: Volumes;
  readonly newAddress: () => string;
}

/** Between two looks at mounted ConfigMaps and Secrets. */
const fileSyncMs = 60_000;

/** Between two attempts at an image, a volume or a file that is not there. */
const retryMs = 10_000;

export function runKubelet(options: KubeletOptions): Kubelet {
  const { state, node, network } = options;
  const { store, time, random } = state;
  const hand = handOf(state, 'kubelet');
  const workers = new Map<string, PodWorker>();
  /** Volumes of pods on the disk of this node. */
  const disks = new Map<string, Map<string, Volume>>();
  const waiting = new Map<string, string>();
  let isUp = true;
  /** Counts the starts of the machine: what was planned before the last one is void. */
  let life = 0;
  let healAfterStop: () => void = () => undefined;
  const silent = new Set<string>();
  const queue = workQueue(state, [5, 30], (uid) => {
    if (isUp) sync(uid);
  });
  const reports = workQueue(state, [3, 15], (uid) => {
    if (isUp) report(uid);
  });

  store.onCommit(({ resource, before, after, last }) => {
    if (!isUp) return;
    if (resource === 'pods') {
      if (nodeNameOf(last) !== node) return;
      const uid = last.metadata.uid ?? '';
      if (after === undefined) queue.add(uid);
      else if (before === undefined || nodeNameOf(before) === undefined || isTerminating(after)) queue.add(uid);
      else if (before.spec !== after.spec) resizeLater(uid, 100 + random() * 900);
      else if (before.metadata !== after.metadata && !sameMetadata(before, after)) workers.get(uid)?.files.refresh();
    } else if (resource === 'configmaps' || resource === 'secrets') {
      if (after === undefined) return;
      for (const worker of workers.values()) {
        worker.files.changed(after, time.monotonic() + random() * fileSyncMs);
        if (!worker.hasStarted) queue.add(worker.uid);
      }
    }
  });

  function sync(uid: string): void {
    const pod = store.byUid(uid);
    const worker = workers.get(uid);
    if (pod === undefined) {
      // Removed without waiting for its containers: they end all the same.
      worker?.cutOff();
      forget(uid);
    } else if (isTerminating(pod)) {
      if (worker === undefined || !worker.hasStarted) finish(uid);
      else worker.terminate(1000 * numberIn(fieldsIn(pod.metadata).deletionGracePeriodSeconds, 30));
    } else if (worker === undefined) {
      if (phaseOf(pod) === 'Succeeded' || phaseOf(pod) === 'Failed') return;
      if (hasBegun(pod) && fieldsIn(pod.spec).restartPolicy === 'Never') fail(pod);
      else adopt(pod);
    } else if (!worker.hasStarted) {
      prepare(worker);
    }
  }

  function resizeLater(uid: string, ms: number): void {
    const mine = life;
    time.after(ms, () => {
      const [pod, worker] = [store.byUid(uid), workers.get(uid)];
      if (life !== mine || !isUp || pod === undefined || worker === undefined || isTerminating(pod)) return;
      const machine = store.get('nodes', undefined, node);
      const { generation: observedGeneration = 0 } = pod.metadata;
      if (machine === undefined || hasRoom(machine, pod, store.all('pods'))) return worker.resize(pod);
      if (!couldHold(machine, pod)) {
        return worker.refuse({ reason: 'Infeasible', message: "Node didn't have enough capacity", observedGeneration });
      }
      worker.refuse({ reason: 'Deferred', message: "Node didn't have enough resource", observedGeneration });
      resizeLater(uid, retryMs);
    });
  }

  /** It was running when the machine went off, and is not to start again. */
  function fail(pod: KubeObject): void {
    const statuses = (name: string): Fields => ({
      [name]: itemsIn(fieldsIn(pod.status)[name]).map((status) => ({
        ...status,
        ready: false,
        started: false,
        state: fieldsIn(status.state).terminated === undefined ? { terminated: lostWithMachine } : status.state,
      })),
    });
    hand.updateStatus(pod, { phase: 'Failed', ...statuses('containerStatuses'), ...statuses('initContainerStatuses') });
  }

  function adopt(pod: KubeObject): void {
    const uid = pod.metadata.uid ?? '';
    const disk = disks.get(uid) ?? new Map<string, Volume>();
    disks.set(uid, disk);
    const worker = createPodWorker(pod, { ...options, disk, changed: () => reports.add(uid) });
    workers.set(uid, worker);
    prepare(worker);
  }

  const preparing = new Set<PodWorker>();
  const retrying = new Set<string>();

  function retryLater(uid: string): void {
    if (retrying.has(uid)) return;
    retrying.add(uid);
    time.after(retryMs, () => {
      retrying.delete(uid);
      if (workers.has(uid)) queue.add(uid);
    });
  }

  function prepare(worker: PodWorker): void {
    if (preparing.has(worker)) return;
    const obstacle = worker.obstacle();
    waiting.set(worker.uid, obstacle?.[0] ?? 'ContainerCreating');
    if (obstacle !== undefined) {
      reports.add(worker.uid);
      retryLater(worker.uid);
      return;
    }
    preparing.add(worker);
    const mine = life;
    time.after(300 + random() * 700, () => {
      preparing.delete(worker);
      const pod = store.byUid(worker.uid);
      if (life !== mine || !isUp || pod === undefined || isTerminating(pod)) return;
      worker.start();
      reports.add(worker.uid);
    });
  }

  function report(uid: string): void {
    const worker = workers.get(uid);
    const pod = store.byUid(uid);
    if (worker === undefined || pod === undefined) return;
    const told = hand.updateStatus(pod, worker.statusOf(pod, waiting.get(uid) ?? 'ContainerCreating'));
    if (isTerminating(told) && worker.isTerminating && worker.hasEnded) {
      const mine = life;
      time.after(10 + random() * 40, () => {
        if (life === mine && isUp) finish(uid);
      });
    }
  }

  /** The last word on a pod that was deleted. */
  function finish(uid: string): void {
    const pod = store.byUid(uid);
    if (pod !== undefined) hand.remove(pod, 0);
    forget(uid);
  }

  function forget(uid: string): void {
    workers.delete(uid);
    disks.delete(uid);
    waiting.delete(uid);
  }

  function podsOfNode(): KubeObject[] {
    return [...store.all('pods')].filter((pod) => nodeNameOf(pod) === node);
  }

  return {
    killContainer(uid) {
      const container = workers.get(uid)?.container();
      if (container === undefined) throw new Error(`no container of this pod has been started on ${node}`);
      container.kill();
    },
    stop() {
      if (!isUp) return;
      isUp = false;
      life++;
      const addresses = [...workers.values()].flatMap(({ ip }) => ip ?? []);
      for (const address of addresses) silent.add(address);
      // First the silence, then the end: no peer may hear its connections close.
      if (addresses.length > 0) healAfterStop = network.cut(addresses, 'all');
      for (const worker of workers.values()) worker.cutOff();
      workers.clear();
      preparing.clear();
    },
    start() {
      if (isUp) return;
      isUp = true;
      // First the reset: what was under way when the power went must not arrive now.
      for (const address of silent) network.reset(address);
      silent.clear();
      healAfterStop();
      healAfterStop = () => undefined;
      for (const pod of podsOfNode()) {
        const uid = pod.metadata.uid ?? '';
        for (const volume of itemsIn(fieldsIn(pod.spec).volumes)) {
          if (fieldsIn(volume.emptyDir).medium === 'Memory') disks.get(uid)?.delete(String(volume.name));
        }
        queue.add(uid);
      }
    },
  };
}

const lostWithMachine = { exitCode: 137, reason: 'ContainerStatusUnknown' } as const;

/** Whether any of its containers has been started. */
function hasBegun({ status }: KubeObject): boolean {
  return fieldsIn(status).podIP !== undefined;
}

/** The status is told by the kubelet itself: only what others have changed counts. */
function sameMetadata(before: KubeObject, after: KubeObject): boolean {
  return before.metadata.labels === after.metadata.labels && before.metadata.annotations === after.metadata.annotations;
}
