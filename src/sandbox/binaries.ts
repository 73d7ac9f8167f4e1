/**
 * The programs of the sandbox: where they are in the cache, and from which Go package each is compiled.
 *
 * A program is there whole or not at all, in a directory that names its version: versions live side by side.
 */
import { join } from 'node:path';
import { corednsMain } from './coredns.ts';
import { isThere } from './file.ts';
import { type Layout, versions } from './layout.ts';

export type Binary =
  | 'kubectl'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'etcd'
  | 'etcd-before'
  | 'etcdutl'
  | 'etcdutl-before'
  | 'etcdctl'
  | 'etcdctl-before'
  | 'coredns'
  | 'versitygw';

export interface Program {
  readonly name: Binary;
  /** The Go package with its `main`. */
  readonly package: string;
  readonly source: Source;
}

/** A Go module at a version; programs of one source are compiled in one module context. */
export interface Source {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** A `main.go` that is compiled in place of the module's own, with only what is used of the module. */
  readonly main?: string;
}

const kubernetes: Source = { name: 'kubernetes', module: 'k8s.io/kubernetes', version: versions.kubernetes };
const etcd: Source = { name: 'etcd', module: 'go.etcd.io/etcd/server/v3', version: versions.etcd };
const etcdBefore: Source = { ...etcd, version: versions.etcdBefore };
/** Restores snapshots; a module of its own, released with the server. */
const etcdutl: Source = { name: 'etcdutl', module: 'go.etcd.io/etcd/etcdutl/v3', version: versions.etcd };
const etcdutlBefore: Source = { ...etcdutl, version: versions.etcdBefore };
/** The client, for people: `kubectl exec` finds it in the released image, too. */
const etcdctl: Source = { name: 'etcdctl', module: 'go.etcd.io/etcd/etcdctl/v3', version: versions.etcd };
const etcdctlBefore: Source = { ...etcdctl, version: versions.etcdBefore };
/** A server that speaks S3 and keeps objects as files: where backups go in tests. */
const versitygw: Source = {
  name: 'versitygw',
  module: 'github.com/versity/versitygw',
  version: versions.versitygw,
};
const coredns: Source = {
  name: 'coredns',
  module: 'github.com/coredns/coredns',
  version: versions.coredns,
  main: corednsMain,
};
const controlPlane = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
const withNodes = ['kube-scheduler', 'kubelet', 'kube-proxy', 'coredns'] as const;

export function program(name: Binary): Program {
  switch (name) {
    case 'etcd':
      return { name, source: etcd, package: etcd.module };
    case 'etcd-before':
      return { name, source: etcdBefore, package: etcdBefore.module };
    case 'etcdutl':
      return { name, source: etcdutl, package: etcdutl.module };
    case 'etcdutl-before':
      return { name, source: etcdutlBefore, package: etcdutl.module };
    case 'etcdctl':
      return { name, source: etcdctl, package: etcdctl.module };
    case 'etcdctl-before':
      return { name, source: etcdctlBefore, package: etcdctl.module };
    case 'versitygw':
      return { name, source: versitygw, package: `${versitygw.module}/cmd/versitygw` };
    case 'coredns':
      return { name, source: coredns, package: '.' };
    default:
      return { name, source: kubernetes, package: `${kubernetes.module}/cmd/${name}` };
  }
}

/** What a sandbox of this many nodes runs. */
export function neededBinaries(nodes: number): readonly Binary[] {
  return nodes === 0 ? controlPlane : [...controlPlane, ...withNodes];
}

export function binaryPath(layout: Layout, name: Binary): string {
  const { source } = program(name);
  const changed = source.main === undefined ? '' : '-own-main';
  return join(layout.cache, 'bin', `${source.name}-${source.version}${changed}`, name);
}

/** The directory that a user's PATH needs, for `kubectl`. */
export function kubectlDirectory(layout: Layout): string {
  return join(binaryPath(layout, 'kubectl'), '..');
}

/** Those of `names` that have yet to be compiled. */
export async function missingBinaries(layout: Layout, names: readonly Binary[]): Promise<readonly Program[]> {
  const checked = names.map(async (name) => ((await isThere(binaryPath(layout, name))) ? [] : [program(name)]));
  return (await Promise.all(checked)).flat();
}
