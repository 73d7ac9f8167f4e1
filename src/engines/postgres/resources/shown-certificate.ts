/**
 * The certificate that members show, where the spec names its source. They get a copy of it, in a Secret of its own: its `ca.crt` says who
 * is a server of this cluster. Who may log in by certificate is said elsewhere, by the operator's CA alone.
 *
 * Whatever the source is, all of them are copied, the operator's own certificate, too. So one source follows another as one CA follows another.
 */
import { createHash } from 'node:crypto';
import { hoursOf } from '../../../api/certificate-source.ts';
import type { Cluster } from '../../../api/cluster.ts';
import { leafKeys } from '../../../certificates/facts.ts';
import type { CopyWanted } from '../../../plan/copying.ts';
import type { Desired } from '../../../plan/objects.ts';
import { certificate } from '../../../resources/certificate.ts';
import { configMap } from '../../../resources/configmap.ts';
import { ownedMetadata, type Part } from '../../../resources/metadata.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames } from '../names.ts';
import { issuedSecret, serverNames } from './certificates.ts';

/** What kubelets need to bring a Secret to pods that nobody is asked about: the pooler's, the exporters', those of Jobs. */
const podHours = 3 / 60;
/** Clients follow the ConfigMap with the CAs. A person has decided on a Secret, and nobody on what cert-manager does. */
const clientHours = 1;

export function hasSource({ spec }: Cluster<PostgresSpec>): boolean {
  return spec.tls !== undefined;
}

/** What is copied, and to where; undefined where members show what the operator issues, as it is. */
export function shownWanted({ metadata, spec }: Cluster<PostgresSpec>): CopyWanted | undefined {
  if (spec.tls === undefined) return undefined;
  const { certificates } = postgresNames(metadata.name);
  const { secretRef, certManager } = spec.tls.server;
  const secret = certificates.shown;
  if (secretRef !== undefined) return { secret, from: secretRef.name, patienceHours: podHours };
  if (certManager !== undefined) return { secret, from: certificates.issued, patienceHours: clientHours };
  return ownWanted(metadata.name);
}

/** The operator's certificate as the source. Members that have had no other one begin with it. */
export function ownWanted(cluster: string): CopyWanted {
  const { certificates } = postgresNames(cluster);
  return { secret: certificates.shown, from: certificates.server, patienceHours: podHours };
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

/** Of the CAs by which servers are known. Each member has it on its pod, from the file that it reads. */
export function casDigest(trusted: string): string {
  return createHash('sha256').update(trusted).digest('hex').slice(0, 16);
}

/** The copy, and what cert-manager is asked for. */
export function shownChildren(cluster: Cluster<PostgresSpec>, part: Part): Desired[] {
  const { metadata, spec } = cluster;
  if (spec.tls === undefined) return [];
  const names = postgresNames(metadata.name);
  const copy = issuedSecret(cluster, names.certificates.shown, part);
  const { certManager } = spec.tls.server;
  if (certManager === undefined) return [copy];
  const { issuerRef, duration, renewBefore } = certManager;
  const asked = certificate({
    metadata: ownedMetadata(cluster, names.certificates.issued, part),
    secretName: names.certificates.issued,
    organisation: metadata.name,
    dnsNames: serverNames(cluster),
    issuerRef: { name: issuerRef.name, kind: issuerRef.kind, group: issuerRef.group },
    durationHours: hoursOf(duration),
    ...(renewBefore === undefined ? {} : { renewBeforeHours: hoursOf(renewBefore) }),
  });
  return [copy, { object: asked }];
}

/** For clients: the CAs without a key beside them. */
export function serverCaConfig(cluster: Cluster<PostgresSpec>, part: Part, trusted: string | undefined): Desired[] {
  if (!hasSource(cluster) || trusted === undefined) return [];
  const owned = ownedMetadata(cluster, postgresNames(cluster.metadata.name).serverCa, part);
  return [{ object: configMap(owned, { [leafKeys.trusted]: trusted }) }];
}
