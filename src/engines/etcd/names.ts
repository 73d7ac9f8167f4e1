/**
 * Every name, port and path of an etcd cluster's objects, in one place: selectors and volumes depend on them for ever.
 *
 * A member has a number of its own, which no later member of the cluster is given while a trace of it is left. So an
 * address, a volume and a name stand for one member, and a new one never meets an old one's data (safety rule G7).
 */

import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from './kind/schema.ts';

export const clientPort = 2379;
export const peerPort = 2380;
/** Metrics and the health that the kubelet asks for; never data. */
export const metricsPort = 2381;

export const program = '/usr/local/bin/etcd';

/** The data directory is one below the volume, so that etcd makes it with the permissions that it wants. */
export const paths = {
  volume: '/var/lib/etcd',
  data: '/var/lib/etcd/data',
  clientTls: '/etc/etcd/tls/client',
  peerTls: '/etc/etcd/tls/peer',
} as const;

/** On a claim: `CLUSTER-ID/MEMBER-ID` of the member whose data it holds. A claim without it holds nobody's. */
export const holdsAnnotation = 'clusterwright.dev/etcd-member';

/** On a claim: the namespace in which the member whose data it holds is known to the others. */
export const homeAnnotation = 'clusterwright.dev/etcd-namespace';

/** On a claim: its member has been removed. The data is kept, and no process is ever started on it again. */
export const retiredAnnotation = 'clusterwright.dev/retired';

/** On a claim: `CLUSTER-ID/MEMBER-ID` of the member whose data was called corrupt. It is kept under every policy. */
export const corruptAnnotation = 'clusterwright.dev/etcd-corrupt';

/** On a pod: which authorities its process trusts. Others need a restart. */
export const authoritiesAnnotation = 'clusterwright.dev/authorities';

/** On a StatefulSet: the CAs in the Secrets of `secretRef` that its template was written for. */
export const casAnnotation = 'clusterwright.dev/trusted-cas';

/** On the custom resource: `POD@UID/GENERATION/APPLIED` of whose data alone the cluster is to go on with: see `recovery-request.ts`. */
export const recoverAnnotation = 'clusterwright.dev/recover-from';

export interface EtcdNames {
  /** Headless Service of the members, for peers and for clients that choose a member themselves. */
  readonly peers: string;
  /** Service of the members that are ready. */
  readonly client: string;
  /** ConfigMap with how each member is to start: see `roster.ts`. */
  readonly roster: string;
  /** Secret with the password of etcd's root user. */
  readonly root: string;
  /** Secrets with the members' certificates, where nobody brings one; and Certificates of cert-manager. */
  readonly certificates: Readonly<Record<'client' | 'peer', string>>;
  /** Secrets that cert-manager writes. The members have a copy of them. */
  readonly sources: Readonly<Record<'client' | 'peer', string>>;
  /** Secrets with the authorities that the operator makes itself. */
  readonly authorities: Readonly<Record<'client' | 'peer', string>>;
  /** Secret with a certificate for clients, of the operator's making. */
  readonly user: string;
}

export function etcdNames(cluster: string): EtcdNames {
  return {
    peers: cluster,
    client: `${cluster}-client`,
    roster: `${cluster}-members`,
    root: `${cluster}-root`,
    certificates: { client: `${cluster}-client-tls`, peer: `${cluster}-peer-tls` },
    sources: { client: `${cluster}-client-issued`, peer: `${cluster}-peer-issued` },
    authorities: { client: `${cluster}-client-ca`, peer: `${cluster}-peer-ca` },
    user: `${cluster}-client-user`,
  };
}

/** Kinds of connections that are secured, each with an authority of its own. */
export const sides = ['client', 'peer'] as const;
export type Side = (typeof sides)[number];

/** Name of the Secret that the members mount; undefined where the connections are not secured. */
export function certificateSecret({ metadata, spec }: Cluster<EtcdSpec>, side: Side): string | undefined {
  const tls = spec.tls[side];
  if (tls === undefined) return undefined;
  return tls.secretRef?.name ?? etcdNames(metadata.name).certificates[side];
}

/** The member's name in etcd, and that of its StatefulSet. */
export function memberName(cluster: string, index: number): string {
  return `${cluster}-${index}`;
}

export function podName(cluster: string, index: number): string {
  return `${memberName(cluster, index)}-0`;
}

export const claimTemplate = 'data';

export function claimName(cluster: string, index: number): string {
  return `${claimTemplate}-${podName(cluster, index)}`;
}

/** The part of a cluster that its addresses depend on. */
export type Place = Pick<Cluster<EtcdSpec>, 'metadata' | 'spec'>;

/** The name by which DNS knows the member's pod, whichever has it now. */
export function hostOf({ metadata }: Place, index: number): string {
  const { name, namespace } = metadata;
  return `${podName(name, index)}.${etcdNames(name).peers}.${namespace}.svc`;
}

/** Every member has it in its certificate, whichever address it is reached by. */
export function serverName({ metadata, spec }: Place): string {
  return spec.tls.client?.serverName ?? `${etcdNames(metadata.name).client}.${metadata.namespace}.svc`;
}

export function peerUrl(place: Place, index: number): string {
  return `${place.spec.tls.peer === undefined ? 'http' : 'https'}://${hostOf(place, index)}:${peerPort}`;
}

export function clientUrl(place: Place, index: number): string {
  return `${place.spec.tls.client === undefined ? 'http' : 'https'}://${hostOf(place, index)}:${clientPort}`;
}

/** The number in a peer URL of a member of this cluster; undefined for anybody else's. */
export function indexInUrl(place: Place, url: string): number | undefined {
  const index = Number(/^https?:\/\/[^./]*-(\d+)-0\./.exec(url)?.[1] ?? Number.NaN);
  return Number.isInteger(index) && url === peerUrl(place, index) ? index : undefined;
}

/** The number in the label that everything of a member carries. */
export function indexInName(cluster: string, name: string | undefined): number | undefined {
  const index = Number(/-(\d+)$/.exec(name ?? '')?.[1] ?? Number.NaN);
  return Number.isInteger(index) && name === memberName(cluster, index) ? index : undefined;
}

/** The number in the name of a member's pod. Its labels anybody may have changed. */
export function indexInPodName(cluster: string, name: string): number | undefined {
  const index = Number(/-(\d+)-0$/.exec(name)?.[1] ?? Number.NaN);
  return Number.isInteger(index) && name === podName(cluster, index) ? index : undefined;
}
