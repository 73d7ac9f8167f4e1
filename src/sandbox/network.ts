/**
 * One bridge for the pods of all nodes; the machine itself is its gateway. kube-proxy runs once, for the machine.
 *
 * Each node's kubelet has an address of its own on the bridge, so that the API server can tell them apart. Addresses
 * are handed out per node, from ranges that the faults rely on.
 */
import { writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { binaryPath } from './binaries.ts';
import { attempt, run } from './command.ts';
import { SandboxError } from './error.ts';
import { isThere } from './file.ts';
import { addresses, bridgeName, kubeconfigPath, type Layout, type NodeLayout, ports } from './layout.ts';
import { addRules, type Rule, tagPrefix } from './netfilter.ts';
import { queuePackets } from './network-policies.ts';
import type { Daemon } from './process.ts';

const proxyNode = 'node1';

/** What makes pods reachable where the machine drops forwarded packets by default, as beside Docker. */
const acceptRules: readonly Rule[] = ['-i', '-o'].map((direction) => ({
  chain: 'FORWARD',
  match: `${direction} ${bridgeName} -j ACCEPT`,
  tag: `${tagPrefix}bridge`,
  place: 'last',
}));

/**
 * A Service is known to the API server before kube-proxy has its address: until then a packet to it would leave the
 * machine by its default route, and some stranger out there might even answer. What kube-proxy handles no longer
 * carries the Service's address here.
 */
const refuseRules: readonly Rule[] = (['OUTPUT', 'FORWARD'] as const).map((chain) => ({
  chain,
  match: `-d ${addresses.serviceRange} -j REJECT`,
  tag: `${tagPrefix}services`,
  place: 'first',
}));

/** @throws SandboxError when another interface already has an address in the pods' range. */
export function checkAddresses(interfaces: NodeJS.Dict<{ address: string }[]> = networkInterfaces()): void {
  const prefix = addresses.podRange.split('.').slice(0, 2).join('.');
  for (const [name, own] of Object.entries(interfaces)) {
    const taken = own?.find(({ address }) => address.startsWith(`${prefix}.`));
    if (taken !== undefined && name !== bridgeName) {
      throw new SandboxError(
        `interface ${name} has the address ${taken.address}; the sandbox needs ${addresses.podRange} for itself`,
      );
    }
  }
}

export async function createBridge(nodes: readonly NodeLayout[]): Promise<void> {
  const commands = [
    `link add ${bridgeName} type bridge`,
    `addr add ${addresses.bridge}/16 dev ${bridgeName}`,
    ...nodes.map((node) => `addr add ${node.address}/32 dev ${bridgeName}`),
    `link set ${bridgeName} up`,
  ];
  await run('ip', ['-batch', '-'], { input: `${commands.join('\n')}\n` });
  await queuePackets();
  await addRules([...acceptRules, ...refuseRules]);
}

/** Removes the bridge and the ends of the pods' cables that hang on it. */
export async function removeBridge(): Promise<void> {
  if (!(await bridgeExists())) return;
  const listed = await run('ip', ['-o', 'link', 'show', 'master', bridgeName]);
  const links = [...listed.matchAll(/^\d+: ([^@:]+)/gm)].flatMap((match) => match[1] ?? []);
  // A cable goes by itself with its pod's network namespace, perhaps in this very moment: hence -force.
  const commands = [...links, bridgeName].map((link) => `link del ${link}`);
  await attempt('ip', ['-force', '-batch', '-'], { input: `${commands.join('\n')}\n` });
  if (await bridgeExists()) throw new SandboxError(`cannot remove the bridge ${bridgeName}`);
}

export async function bridgeExists(): Promise<boolean> {
  return await isThere(`/sys/class/net/${bridgeName}`);
}

/** The pods' network of one node, for containerd. */
export function cniConfig(node: NodeLayout): object {
  return {
    cniVersion: '0.4.0',
    name: `clusterwright-${node.name}`,
    plugins: [
      {
        type: 'bridge',
        bridge: bridgeName,
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: join(node.data, 'addresses'),
          ranges: [
            [
              {
                subnet: addresses.podRange,
                rangeStart: node.firstPodAddress,
                rangeEnd: node.lastPodAddress,
                gateway: addresses.bridge,
              },
            ],
          ],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  };
}

export function proxyConfig(layout: Layout): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: kubeconfigPath(layout, 'proxy') },
    mode: 'iptables',
    clusterCIDR: addresses.podRange,
    hostnameOverride: proxyNode,
    bindAddress: addresses.bridge,
    // The machine's own connection tracking table is left as it is.
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: `127.0.0.1:${ports.proxyHealth}`,
    metricsBindAddress: `127.0.0.1:${ports.proxyMetrics}`,
  };
}

export async function proxy(layout: Layout): Promise<Daemon> {
  const config = join(layout.run, 'proxy.json');
  await writeFile(config, JSON.stringify(proxyConfig(layout)));
  return { name: 'kube-proxy', command: binaryPath(layout, 'kube-proxy'), args: [`--config=${config}`] };
}
