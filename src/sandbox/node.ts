/**
 * A node: its own containerd and its own kubelet, in its own cgroup, on the machine's kernel.
 *
 * The kubelet's settings are those it takes to run several of them side by side, with or without every capability.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { binaryPath } from './binaries.ts';
import { clusterDomain } from './dns.ts';
import { versionOf } from './file.ts';
import { pauseImage } from './images/base.ts';
import { addresses, kubeconfigPath, type Layout, type NodeLayout, paths } from './layout.ts';
import { cniConfig } from './network.ts';
import { type ProcessRecord, start, waitUntilReady } from './process.ts';

export function containerdConfig(node: NodeLayout): string {
  return `version = 2
root = "${join(node.data, 'containerd')}"
state = "${node.state}"
# These would write outside the node's own directories, or look for what is not there.
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "${node.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  disable_apparmor = true
  # CAP_SYS_RESOURCE may be missing even for root; without this no pod starts then.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${join(node.run, 'cni')}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      Root = "${join(node.state, 'runc')}"
`;
}

export function kubeletConfig(layout: Layout, node: NodeLayout): object {
  const pki = (name: string): string => join(paths(layout).pki, name);
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: pki('ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: pki('kubelet.crt'),
    tlsPrivateKeyFile: pki('kubelet.key'),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${node.cgroup}`,
    // Refused by default since 1.35.
    failCgroupV1: false,
    failSwapOn: false,
    containerRuntimeEndpoint: `unix://${node.socket}`,
    serializeImagePulls: false,
    clusterDNS: [addresses.dnsService],
    clusterDomain,
    // The machine's search domains are not the pods'.
    resolvConf: join(layout.run, 'resolv.conf'),
    address: node.address,
    port: node.kubeletPort,
    healthzPort: 0,
    readOnlyPort: 0,
    // Kubelets that share /var/log/pods delete each other's logs.
    podLogsDir: join(node.data, 'logs'),
    volumePluginDir: join(node.data, 'kubelet', 'volume-plugins'),
    // The kubelet cannot measure every file system it runs on; without it emptyDir limits evict nothing.
    localStorageCapacityIsolation: false,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    maxPods: 200,
  };
}

/** Writes the node's files and starts its containerd; resolves when that answers. */
export async function startContainerd(layout: Layout, node: NodeLayout): Promise<void> {
  const directories = [join(node.run, 'cni'), join(node.data, 'kubelet'), join(node.data, 'logs')];
  await Promise.all(directories.map((directory) => mkdir(directory, { recursive: true })));
  const config = join(node.run, 'containerd.toml');
  await Promise.all([
    writeFile(config, containerdConfig(node)),
    writeFile(join(node.run, 'cni', '10-bridge.conflist'), JSON.stringify(cniConfig(node))),
    writeFile(join(node.run, 'kubelet.json'), JSON.stringify(kubeletConfig(layout, node))),
    writeFile(join(layout.run, 'resolv.conf'), ''),
  ]);
  const record = await start(layout, {
    name: containerdName(node),
    command: 'containerd',
    args: ['--config', config],
    cgroup: node.systemCgroup,
  });
  await waitUntilReady(layout, record, () => listens(node.socket), { timeout: 30_000 });
}

/**
 * Where a kubelet listens for device plugins. No setting moves it, so each kubelet of this machine takes the socket from the one before. Two
 * that do so in the same moment are too many: one of them ends with `bind: address already in use`.
 */
const pluginSocket = '/var/lib/kubelet/device-plugins/kubelet.sock';

/**
 * Starts the node's kubelet, and resolves when the next one may start. containerd and the API server must answer. One call at a time.
 */
export async function startKubelet(layout: Layout, node: NodeLayout): Promise<ProcessRecord> {
  const flags = {
    kubeconfig: kubeconfigPath(layout, node.name),
    config: join(node.run, 'kubelet.json'),
    'hostname-override': node.name,
    'root-dir': join(node.data, 'kubelet'),
    'node-ip': node.address,
    'cert-dir': join(node.run, 'pki'),
    'node-labels': `topology.kubernetes.io/zone=zone${node.index}`,
  };
  const before = await versionOf(pluginSocket);
  const record = await start(layout, {
    name: kubeletName(node),
    command: binaryPath(layout, 'kubelet'),
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    cgroup: node.systemCgroup,
  });
  await waitUntilReady(layout, record, async () => (await versionOf(pluginSocket)) !== before);
  return record;
}

export function containerdName(node: NodeLayout): string {
  return `containerd-${node.name}`;
}

export function kubeletName(node: NodeLayout): string {
  return `kubelet-${node.name}`;
}

function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.on('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.on('error', () => resolve(false));
  });
}
