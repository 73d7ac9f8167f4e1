/**
 * CoreDNS, once on the machine: losing a node never loses it. It answers for the cluster's own names only; pods have no
 * way to names outside.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../api/object.ts';
import type { ApiClient } from './apiserver.ts';
import { binaryPath } from './binaries.ts';
import { addresses, kubeconfigPath, type Layout, ports } from './layout.ts';
import type { Daemon } from './process.ts';

export const clusterDomain = 'cluster.local';

export function corefile(layout: Layout): string {
  return `.:${ports.dns} {
  bind ${addresses.bridge}
  errors
  kubernetes ${clusterDomain} in-addr.arpa {
    kubeconfig ${kubeconfigPath(layout, 'dns')}
    pods insecure
    ttl 2
  }
}
`;
}

const servicePorts = [
  { name: 'dns', port: ports.dns, protocol: 'UDP' },
  { name: 'dns-tcp', port: ports.dns, protocol: 'TCP' },
];

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kube-dns', namespace: 'kube-system' },
  spec: { clusterIP: addresses.dnsService, ports: servicePorts },
};

const endpoints: KubeObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kube-dns-1', namespace: 'kube-system', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
  addressType: 'IPv4',
  ports: servicePorts,
  endpoints: [{ addresses: [addresses.bridge], conditions: { ready: true } }],
};

export async function createDnsObjects(api: ApiClient): Promise<void> {
  await Promise.all([
    api.create('/api/v1/namespaces/kube-system/services', service),
    api.create('/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', endpoints),
  ]);
}

export async function dns(layout: Layout): Promise<Daemon> {
  const file = join(layout.run, 'Corefile');
  await writeFile(file, corefile(layout));
  return { name: 'coredns', command: binaryPath(layout, 'coredns'), args: ['-conf', file] };
}
