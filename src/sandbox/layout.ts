/**
 * Where the sandbox keeps its things and which addresses and ports it uses: the one place that knows.
 *
 * There is one sandbox on a machine at a time, because ports, bridge and cgroups are the machine's own.
 * `run` holds what a reboot may lose (sockets, logs, keys, state), `data` what is bulky (images, volumes, etcd),
 * `cache` what outlives the sandbox (compiled binaries, images).
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Layout {
  /** `$CLUSTERWRIGHT_RUN`, default `/run/clusterwright`. */
  readonly run: string;
  /** `/var/lib/clusterwright`, or `data` under an overridden run directory. */
  readonly data: string;
  /** `$CLUSTERWRIGHT_CACHE`, default `~/.cache/clusterwright`. */
  readonly cache: string;
}

export interface Versions {
  readonly kubernetes: string;
  readonly etcd: string;
  readonly coredns: string;
  readonly versitygw: string;
  readonly helm: string;
  readonly networkPolicies: string;
}

export const versions: Versions = {
  kubernetes: 'v1.35.4',
  etcd: 'v3.6.16',
  coredns: 'v1.14.7',
  versitygw: 'v1.8.0',
  helm: 'v3.18.6',
  networkPolicies: 'v0.8.0',
};

/** Oldest Go that compiles {@link versions}. */
export const goVersion = '1.25';

export const addresses = {
  /** The machine's own address on the bridge: API server, DNS and gateway of every pod. */
  bridge: '10.244.0.1',
  podRange: '10.244.0.0/16',
  serviceRange: '10.96.0.0/16',
  apiService: '10.96.0.1',
  dnsService: '10.96.0.10',
} as const;

/** At most 15 characters: the kernel's limit for an interface name. */
export const bridgeName = 'clusterwright0';

export const ports = {
  apiserver: 6443,
  etcdClient: 12379,
  etcdPeer: 12380,
  controllerManager: 10257,
  scheduler: 10259,
  proxyMetrics: 10249,
  proxyHealth: 10256,
  dns: 53,
} as const;

/** Names of the node's pieces; `index` counts from 1. */
export interface NodeLayout {
  readonly index: number;
  readonly name: string;
  /** The kubelet's own address on the bridge. */
  readonly address: string;
  readonly kubeletPort: number;
  /** Every pod of the node has an address in this range, and nothing else has. */
  readonly podRange: string;
  readonly firstPodAddress: string;
  readonly lastPodAddress: string;
  readonly run: string;
  readonly data: string;
  /** containerd's socket. */
  readonly socket: string;
  /** containerd's state: mounts, network namespaces, task bundles. What a reboot loses. */
  readonly state: string;
  /** Relative to the root of every cgroup hierarchy. */
  readonly cgroup: string;
  /** Of the kubelet, containerd and its shims. */
  readonly systemCgroup: string;
}

export const maxNodes = 9;

/** The cgroup of everything, relative to the root of a hierarchy. */
export const cgroupName = 'clusterwright';

/** The cgroup of what belongs to no node. */
export const controlCgroup = `${cgroupName}/control`;

export function layoutOf(env: NodeJS.ProcessEnv): Layout {
  const run = env.CLUSTERWRIGHT_RUN;
  return {
    run: run ?? '/run/clusterwright',
    data: run === undefined ? '/var/lib/clusterwright' : join(run, 'data'),
    cache: env.CLUSTERWRIGHT_CACHE ?? join(homedir(), '.cache', 'clusterwright'),
  };
}

export function nodeLayout(layout: Layout, index: number): NodeLayout {
  const name = `node${index}`;
  const run = join(layout.run, name);
  return {
    index,
    name,
    address: `10.244.0.1${index}`,
    kubeletPort: 10250 + index * 10,
    podRange: `10.244.${index}.0/24`,
    firstPodAddress: `10.244.${index}.2`,
    lastPodAddress: `10.244.${index}.250`,
    run,
    data: join(layout.data, name),
    socket: join(run, 'containerd.sock'),
    state: join(run, 'state'),
    cgroup: `${cgroupName}/${name}`,
    systemCgroup: `${cgroupName}/${name}/system`,
  };
}

/** The nodes 1 to `count`. */
export function nodeLayouts(layout: Layout, count: number): readonly NodeLayout[] {
  return Array.from({ length: count }, (_, index) => nodeLayout(layout, index + 1));
}

/** Files that more than one part of the sandbox names. */
export function paths(layout: Layout): {
  readonly pki: string;
  readonly log: string;
  readonly processes: string;
  readonly state: string;
  readonly lock: string;
  readonly kubeconfig: string;
  readonly volumes: string;
  readonly limitedVolumes: string;
  readonly etcd: string;
} {
  return {
    pki: join(layout.run, 'pki'),
    log: join(layout.run, 'log'),
    processes: join(layout.run, 'processes'),
    state: join(layout.run, 'state.json'),
    lock: `${layout.run}.lock`,
    kubeconfig: join(layout.run, 'admin.kubeconfig'),
    volumes: join(layout.data, 'volumes'),
    limitedVolumes: join(layout.data, 'limited-volumes'),
    etcd: join(layout.data, 'etcd'),
  };
}

/** The user's kubeconfig of a component: `admin`, `controller-manager`, `node1` ... */
export function kubeconfigPath(layout: Layout, user: string): string {
  return join(layout.run, `${user}.kubeconfig`);
}
