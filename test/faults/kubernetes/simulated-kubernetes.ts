/** The simulated Kubernetes, put together: a store, an API server before it, and the controllers and nodes behind. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { Random } from '../../../src/system/clock.ts';
import type { SimulatedKubernetes } from '../world/kubernetes.ts';
import type { Network } from '../world/network.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Images } from '../world/workload.ts';
import { createApiServer } from './api-server.ts';
import { type ClusterState, handOf } from './cluster-state.ts';
import { runCronJobController } from './cronjob-controller.ts';
import { runGarbageCollector } from './garbage-collector.ts';
import { runJobController } from './job-controller.ts';
import { runNamespaceController } from './namespace-controller.ts';
import { runNodePool } from './node-pool.ts';
import { nodeNameOf } from './pod.ts';
import { createRegistry } from './registry.ts';
import { runScheduler } from './scheduler.ts';
import { servedResources } from './served.ts';
import { runServices } from './services.ts';
import { runStatefulSetController } from './statefulset-controller.ts';
import { createStore } from './store.ts';
import { runVolumes } from './volumes.ts';

export interface SimulatedKubernetesOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly images: Images;
  /** Default 3: `node1` and so on. */
  readonly nodes?: number;
  readonly crds: readonly KubeObject[];
  /** Besides `default`. */
  readonly namespaces?: readonly string[];
  /** Whether the storage class lets volumes grow; default true. */
  readonly claimsGrow?: boolean;
}

export function simulatedKubernetes(options: SimulatedKubernetesOptions): SimulatedKubernetes {
  const { time, random, network, images, crds, nodes = 3, namespaces = [], claimsGrow = true } = options;
  const served = servedResources(crds);
  const store = createStore(time);
  const registry = createRegistry({ store, time, random, claimsGrow });
  const state: ClusterState = { store, registry, served, time, random };
  const api = createApiServer(state);

  for (const name of ['default', ...namespaces]) {
    handOf(state, 'kubernetes').create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  runGarbageCollector(state);
  runNamespaceController(state);
  runStatefulSetController(state);
  runJobController(state);
  runCronJobController(state);
  const volumes = runVolumes(state);
  const services = runServices(state);
  const pool = runNodePool({ state, count: nodes, network, images, volumes });
  runScheduler(state, (node) => pool.isUp(node));
  network.resolve = services.resolve;

  function podAt(namespace: string, name: string): KubeObject {
    const pod = store.get('pods', namespace, name);
    if (pod === undefined) throw new Error(`there is no pod ${namespace}/${name}`);
    return pod;
  }

  return {
    transport: (actor) => api.transport(actor),
    commits: store.commits,
    onCommit: (call) => store.onCommit(call),
    objects: () => store.everything(),
    objectsAt: (version) => store.objectsAt(version),
    get version() {
      return store.version;
    },
    compact: () => store.compact(),
    killContainer(namespace, name) {
      const pod = podAt(namespace, name);
      pool.kubelet(nodeNameOf(pod) ?? '').killContainer(pod.metadata.uid ?? '');
    },
    stopNode: (node) => pool.stop(node),
    startNode: (node) => pool.start(node),
    nodes: pool.names,
    loseVolume: (namespace, claim) => volumes.lose(namespace, claim),
    volumeOf(namespace, name) {
      const claim = store.get('persistentvolumeclaims', namespace, name);
      return claim === undefined ? undefined : volumes.of(claim);
    },
    async deletePod(namespace, name) {
      handOf(state, 'person').remove(podAt(namespace, name));
    },
  };
}
