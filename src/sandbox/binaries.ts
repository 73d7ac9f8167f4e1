/**
 * The programs of the sandbox, compiled from Go modules into the cache.
 *
 * A program is there whole or not at all: it is linked beside its place and renamed into it. So an interrupted run goes
 * on where it was, and two versions live side by side.
 */
import { join } from 'node:path';
import { type Layout, versions } from './layout.ts';

const kubernetes = [
  'kubectl',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
] as const;

export type Binaries = (typeof kubernetes)[number] | 'etcd' | 'coredns' | 'local-path-provisioner';

function directory(name: Binaries): string {
  switch (name) {
    case 'etcd':
      return `etcd-${versions.etcd}`;
    case 'coredns':
      return `coredns-${versions.coredns}`;
    case 'local-path-provisioner':
      return `local-path-provisioner-${versions.localPath}`;
    default:
      return `kubernetes-${versions.kubernetes}`;
  }
}

export function binaryPath(layout: Layout, name: Binaries): string {
  return join(layout.cache, 'bin', directory(name), name);
}
