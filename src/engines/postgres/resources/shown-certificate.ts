/**
 * The certificate that members show, where the spec names its source. They get a copy of it, in a Secret of its own: its `ca.crt` says who
 * is a server of this cluster. Who may log in by certificate is said elsewhere, by the operator's CA alone.
 *
 * Whatever the source is, all of them are copied, the operator's own certificate, too. So one source follows another as one CA follows another.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import { leafKeys } from '../../../certificates/facts.ts';
import type { CopyWanted } from '../../../plan/copying.ts';
import type { Desired } from '../../../plan/objects.ts';
import type { StatefulSet } from '../../../resources/children.ts';
import { configMap } from '../../../resources/configmap.ts';
import { ownedMetadata, type Part } from '../../../resources/metadata.ts';
import { hasSource } from '../client/server-ca.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames } from '../names.ts';
import { issuedSecret } from './certificates.ts';

/** What kubelets need to bring a Secret to pods that nobody is asked about: the pooler's, the exporters', those of Jobs and of clients. */
const patienceHours = 3 / 60;

/** What is copied, and to where; undefined where members show what the operator issues, as it is. */
export function shownWanted({ metadata, spec }: Cluster<PostgresSpec>): CopyWanted | undefined {
  if (spec.tls === undefined) return undefined;
  const own = ownWanted(metadata.name);
  const { secretRef } = spec.tls.server;
  return secretRef === undefined ? own : { ...own, from: secretRef.name };
}

/** The operator's certificate as the source. Members that have had no other one begin with it. */
export function ownWanted(cluster: string): CopyWanted {
  const { certificates } = postgresNames(cluster);
  return { secret: certificates.shown, from: certificates.server, patienceHours };
}

/** Of the CAs by which servers are known. Each member has it on its pod, from the file that it reads. */
export function casDigest(trusted: string): string {
  return createHash('sha256').update(trusted).digest('hex').slice(0, 16);
}

/** Whether a template names the copy: its pods have started with one. */
export function isShownMounted(sets: readonly StatefulSet[], cluster: string): boolean {
  const { shown } = postgresNames(cluster).certificates;
  return sets.some(({ spec }) =>
    (spec?.template?.spec?.volumes ?? []).some(({ projected }) =>
      (projected?.sources ?? []).some(({ secret }) => secret?.name === shown),
    ),
  );
}

/** `trusted`: the CAs of the copy, for clients: without a key beside them. */
export function shownChildren(cluster: Cluster<PostgresSpec>, part: Part, trusted: string | undefined): Desired[] {
  if (!hasSource(cluster)) return [];
  const { certificates, serverCa } = postgresNames(cluster.metadata.name);
  const copy = issuedSecret(cluster, certificates.shown, part);
  if (trusted === undefined) return [copy];
  return [copy, { object: configMap(ownedMetadata(cluster, serverCa, part), { [leafKeys.trusted]: trusted }) }];
}
