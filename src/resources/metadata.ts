/**
 * Labels and ownership of everything an engine makes.
 *
 * A selector is made of `selectorLabels` alone. It is fixed for ever, since a StatefulSet's cannot change, and holds
 * nothing that a user can set but the cluster's own immutable name.
 */
import type { Cluster } from '../api/cluster.ts';
import type { ObjectMeta, OwnerReference } from '../api/object.ts';

export const managedBy = 'clusterwright';
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const instanceLabel = 'app.kubernetes.io/instance';
export const nameLabel = 'app.kubernetes.io/name';
export const componentLabel = 'app.kubernetes.io/component';

/** On everything of one member, where each has a StatefulSet of its own: the name of both. */
export const memberLabel = 'clusterwright.dev/member';

/** On everything of one shard, where a cluster has several: the name of its StatefulSet, `CLUSTER-s3`. */
export const shardLabel = 'clusterwright.dev/shard';

/** The component of Jobs and their pods: what they run is no part of a database. */
export const agentComponent = 'agent';

/** The pod that archives the log of a database. No client notices that it restarts. */
export const archiveComponent = 'archive';

/** The component of Services that a spec asks for beside those that its kind always has. */
export const accessComponent = 'access';

/** The component of the NetworkPolicy that a spec asks for. */
export const networkComponent = 'network';

export interface Part {
  /** The engine: `redis`. */
  readonly engine: string;
  /** The part of the cluster: `data`, `sentinel`. */
  readonly component: string;
  readonly version: string;
}

export function selectorLabels(cluster: Cluster, part: Omit<Part, 'version'>): Record<string, string> {
  return {
    [nameLabel]: part.engine,
    [instanceLabel]: cluster.metadata.name,
    [componentLabel]: part.component,
    [managedByLabel]: managedBy,
  };
}

export function labels(cluster: Cluster, part: Part): Record<string, string> {
  return {
    ...selectorLabels(cluster, part),
    'app.kubernetes.io/part-of': cluster.metadata.name,
    'app.kubernetes.io/version': part.version,
  };
}

/** The reference that lets Kubernetes collect a child once its cluster is gone. Empty while the cluster has no uid (offline). */
export function ownerReferences(cluster: Cluster): OwnerReference[] {
  const { name, uid } = cluster.metadata;
  if (uid === undefined) return [];
  return [
    { apiVersion: cluster.apiVersion, kind: cluster.kind, name, uid, controller: true, blockOwnerDeletion: true },
  ];
}

/** Metadata of a child that goes with its cluster. */
export function ownedMetadata(cluster: Cluster, name: string, part: Part): ObjectMeta {
  const owners = ownerReferences(cluster);
  return {
    name,
    namespace: cluster.metadata.namespace,
    labels: labels(cluster, part),
    ...(owners.length > 0 ? { ownerReferences: owners } : {}),
  };
}

/** Metadata of a child that holds data or credentials: it outlives its cluster unless the deletion policy says otherwise. */
export function unownedMetadata(cluster: Cluster, name: string, part: Part): ObjectMeta {
  return { name, namespace: cluster.metadata.namespace, labels: labels(cluster, part) };
}
