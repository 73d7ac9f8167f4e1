/**
 * etcd, API server, controller manager and scheduler: how they are called.
 *
 * Durability of the cluster's own etcd is given up for speed; nothing here may test it.
 */
import { join } from 'node:path';
import { apiAddress } from './apiserver.ts';
import { type Binary, binaryPath } from './binaries.ts';
import { addresses, kubeconfigPath, type Layout, paths, ports } from './layout.ts';
import type { Daemon } from './process.ts';

export interface ControlPlaneOptions {
  readonly nodes: number;
  /** Write an audit log of every request's metadata to `log/audit.log`. */
  readonly audit: boolean;
}

export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

export function auditPolicyPath(layout: Layout): string {
  return join(layout.run, 'audit-policy.json');
}

export function auditLogPath(layout: Layout): string {
  return join(paths(layout).log, 'audit.log');
}

export function etcd(layout: Layout): Daemon {
  const client = `http://127.0.0.1:${ports.etcdClient}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return daemon(layout, 'etcd', {
    name: 'sandbox',
    'data-dir': paths(layout).etcd,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `sandbox=${peer}`,
    'unsafe-no-fsync': 'true',
    // Five thousand clusters with all their revisions are more than the default of 2 GiB.
    'quota-backend-bytes': String(8 * 1024 ** 3),
    // A member that is alone need not wait a second before it elects itself.
    'heartbeat-interval': '10',
    'election-timeout': '100',
    'log-level': 'warn',
  });
}

export function apiserver(layout: Layout, options: ControlPlaneOptions): Daemon {
  const pki = (name: string): string => join(paths(layout).pki, name);
  return daemon(layout, 'kube-apiserver', {
    'etcd-servers': `http://127.0.0.1:${ports.etcdClient}`,
    'bind-address': apiAddress(options.nodes),
    'advertise-address': addresses.bridge,
    'secure-port': String(ports.apiserver),
    'tls-cert-file': pki('apiserver.crt'),
    'tls-private-key-file': pki('apiserver.key'),
    'client-ca-file': pki('ca.crt'),
    'token-auth-file': pki('tokens.csv'),
    'kubelet-certificate-authority': pki('ca.crt'),
    'kubelet-client-certificate': pki('kubelet-client.crt'),
    'kubelet-client-key': pki('kubelet-client.key'),
    'kubelet-preferred-address-types': 'InternalIP',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': pki('sa.pub'),
    'service-account-signing-key-file': pki('sa.key'),
    'service-cluster-ip-range': addresses.serviceRange,
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'allow-privileged': 'true',
    profiling: 'false',
    ...(options.audit ? { 'audit-policy-file': auditPolicyPath(layout), 'audit-log-path': auditLogPath(layout) } : {}),
  });
}

export function controllerManager(layout: Layout): Daemon {
  const pki = (name: string): string => join(paths(layout).pki, name);
  return daemon(layout, 'kube-controller-manager', {
    kubeconfig: kubeconfigPath(layout, 'controller-manager'),
    'bind-address': '127.0.0.1',
    'secure-port': String(ports.controllerManager),
    'service-account-private-key-file': pki('sa.key'),
    'root-ca-file': pki('ca.crt'),
    'cluster-signing-cert-file': pki('ca.crt'),
    'cluster-signing-key-file': pki('ca.key'),
    'leader-elect': 'false',
    // A silent node is NotReady after about 20 s instead of 50.
    'node-monitor-grace-period': '20s',
    profiling: 'false',
  });
}

export function scheduler(layout: Layout): Daemon {
  return daemon(layout, 'kube-scheduler', {
    kubeconfig: kubeconfigPath(layout, 'scheduler'),
    'bind-address': '127.0.0.1',
    'secure-port': String(ports.scheduler),
    'leader-elect': 'false',
    profiling: 'false',
  });
}

function daemon(layout: Layout, name: Binary, flags: Readonly<Record<string, string>>): Daemon {
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  return { name, command: binaryPath(layout, name), args };
}
