/** How clients of ours know that a server is one of the cluster: pods, Jobs and the operator. */
import type { Cluster } from '../../../api/cluster.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames } from '../names.ts';

/** The spec names where the certificate of members comes from: they show a copy of it. */
export function hasSource({ spec }: Cluster<PostgresSpec>): boolean {
  return spec.tls !== undefined;
}

/** Name of the Secret whose `ca.crt` servers of the cluster are checked with. */
export function serverCaSecret(cluster: Cluster<PostgresSpec>): string {
  const { certificates } = postgresNames(cluster.metadata.name);
  return hasSource(cluster) ? certificates.shown : certificates.server;
}

/**
 * How pods of ours check servers by the name that they call. The names in a certificate of somebody else are not the operator's to decide,
 * and may change with it: so only its CA is checked.
 */
export function sslMode(cluster: Cluster<PostgresSpec>): 'verify-ca' | 'verify-full' {
  return hasSource(cluster) ? 'verify-ca' : 'verify-full';
}
