/**
 * The programs of the sandbox: where they are in the cache, and from which Go package each is compiled.
 *
 * A program is there whole or not at all, in a directory that names its version: versions live side by side.
 */
import { join } from 'node:path';
import type { GoModule, GoProgram } from '../engine/image-recipe.ts';
import { corednsMain } from './coredns.ts';
import { isThere } from './file.ts';
import { type Layout, versions } from './layout.ts';
import { networkPoliciesMain } from './network-policies-main.ts';

export type Binary =
  | 'kubectl'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'etcd'
  | 'coredns'
  | 'kube-network-policies'
  | 'versitygw'
  | 'helm';

const kubernetes: GoModule = { name: 'kubernetes', module: 'k8s.io/kubernetes', version: versions.kubernetes };
const etcd: GoModule = { name: 'etcd', module: 'go.etcd.io/etcd/server/v3', version: versions.etcd };
/** A server that speaks S3 and keeps objects as files: where backups go in tests. */
const versitygw: GoModule = {
  name: 'versitygw',
  module: 'github.com/versity/versitygw',
  version: versions.versitygw,
};
/** Of no sandbox: tests of the chart run it. */
const helm: GoModule = { name: 'helm', module: 'helm.sh/helm/v3', version: versions.helm };
const coredns: GoModule = {
  name: 'coredns',
  module: 'github.com/coredns/coredns',
  version: versions.coredns,
  main: corednsMain,
};
const networkPolicies: GoModule = {
  name: 'kube-network-policies',
  module: 'sigs.k8s.io/kube-network-policies',
  version: versions.networkPolicies,
  main: networkPoliciesMain,
};
const controlPlane = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
const withNodes = ['kube-scheduler', 'kubelet', 'kube-proxy', 'coredns', 'kube-network-policies'] as const;

export function program(name: Binary): GoProgram {
  switch (name) {
    case 'etcd':
      return { name, source: etcd, package: etcd.module };
    case 'versitygw':
      return { name, source: versitygw, package: `${versitygw.module}/cmd/versitygw` };
    case 'helm':
      return { name, source: helm, package: `${helm.module}/cmd/helm` };
    case 'coredns':
      return { name, source: coredns, package: '.' };
    case 'kube-network-policies':
      return { name, source: networkPolicies, package: '.' };
    default:
      return { name, source: kubernetes, package: `${kubernetes.module}/cmd/${name}` };
  }
}

/** What a sandbox of this many nodes runs. */
export function neededPrograms(nodes: number): readonly GoProgram[] {
  return (nodes === 0 ? controlPlane : [...controlPlane, ...withNodes]).map(program);
}

/** Of a program of the sandbox itself by its name. */
export function binaryPath(layout: Layout, wanted: Binary | GoProgram): string {
  const { name, source } = typeof wanted === 'string' ? program(wanted) : wanted;
  const changed = source.main === undefined ? '' : '-own-main';
  return join(layout.cache, 'bin', `${source.name}-${source.version}${changed}`, name);
}

/** The directory that a user's PATH needs, for `kubectl`. */
export function kubectlDirectory(layout: Layout): string {
  return join(binaryPath(layout, 'kubectl'), '..');
}

/** Those that have yet to be compiled. */
export async function missingPrograms(layout: Layout, programs: readonly GoProgram[]): Promise<readonly GoProgram[]> {
  const checked = programs.map(async (each) => ((await isThere(binaryPath(layout, each))) ? [] : [each]));
  return (await Promise.all(checked)).flat();
}
