/**
 * The certificate that servers show. Whatever its source is, they get a copy of it, in a Secret of a name that never changes. So every pod can
 * mount it from the first day, and one source follows another as one CA follows another: see `plan/copying.ts`.
 */
import { createHash } from 'node:crypto';
import { hoursOf } from '../../../api/certificate-source.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { leafKeys, type Values } from '../../../certificates/facts.ts';
import type { CopyWanted } from '../../../plan/copying.ts';
import type { AuthorityWanted } from '../../../plan/issuance.ts';
import type { Desired } from '../../../plan/objects.ts';
import type { MayFail } from '../../../plan/plan.ts';
import { certificate } from '../../../resources/certificate.ts';
import { configMap } from '../../../resources/configmap.ts';
import { ownedMetadata, type Part, unownedMetadata } from '../../../resources/metadata.ts';
import { generatedSecret } from '../../../resources/secret.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';

/**
 * Clients are not asked what they trust. Those that mount the ConfigMap with the CAs have its new content within two minutes, and read it when
 * they connect anew.
 */
export const patienceMs = 180_000;
const patienceHours = patienceMs / 3_600_000;

/** Neither data nor a failover rests on a certificate: whatever is refused of it holds up no repair. */
export const certificateMayFail = { optional: true, finding: 'CertificateHeldBack' } as const satisfies MayFail;

const partOf = ({ spec }: Cluster<RedisSpec>): Part => ({ engine: 'redis', component: 'data', version: spec.version });

/** By which clients, and the operator, know the servers: each Service in all of its lengths. */
function serverNames({ metadata: { name, namespace }, spec }: Cluster<RedisSpec>): string[] {
  const names = redisNames(name);
  const services = [names.primary, ...(spec.mode === 'Sentinel' ? [names.replicas] : [])];
  return [
    ...services.flatMap((service) => [`${service}.${namespace}.svc`, `${service}.${namespace}`, service]),
    `*.${names.data}.${namespace}.svc`,
    'localhost',
  ];
}

/** By which the operator knows the servers. It connects to addresses of pods. */
export function serverName({ metadata: { name, namespace } }: Cluster<RedisSpec>): string {
  return `${redisNames(name).primary}.${namespace}.svc`;
}

/** What the operator issues itself; undefined where it does not. */
export function authorityWanted(cluster: Cluster<RedisSpec>): AuthorityWanted | undefined {
  const own = cluster.spec.tls?.server.selfManaged;
  if (own === undefined) return undefined;
  const { name } = cluster.metadata;
  const { authority, ownCertificate } = redisNames(name);
  return {
    secret: authority,
    hours: hoursOf(own.authorityDuration),
    leafHours: hoursOf(own.duration),
    // Nobody reads it from there: those who do get the copy, which has steps of its own.
    patienceHours: 0,
    leaves: [
      {
        secret: ownCertificate,
        organisation: name,
        names: serverNames(cluster),
        // Through a forwarded port a client finds a server on its own machine.
        addresses: ['127.0.0.1'],
        usages: ['server', 'client'],
      },
    ],
  };
}

/** What is copied, and to where; undefined where there is no TLS. */
export function copyWanted({ metadata, spec }: Cluster<RedisSpec>): CopyWanted | undefined {
  if (spec.tls === undefined) return undefined;
  const { certificate: secret, issued, ownCertificate } = redisNames(metadata.name);
  const { secretRef, certManager } = spec.tls.server;
  const from = secretRef?.name ?? (certManager === undefined ? ownCertificate : issued);
  return { secret, from, patienceHours };
}

/** The Secret of a CA or of a certificate: kept, like every credential. */
export function issuedSecret(cluster: Cluster<RedisSpec>, name: string): Desired {
  return { object: generatedSecret(unownedMetadata(cluster, name, partOf(cluster))), issued: true };
}

/** Secrets that the operator fills itself, and what cert-manager is asked for. */
export function certificateChildren(cluster: Cluster<RedisSpec>): Desired[] {
  const copy = copyWanted(cluster);
  if (copy === undefined) return [];
  const own = authorityWanted(cluster);
  const secrets = [...(own === undefined ? [] : [own, ...own.leaves]), copy].map(({ secret }) => secret);
  const asked = certificateAsked(cluster);
  return [
    ...secrets.map((name) => issuedSecret(cluster, name)),
    ...(asked === undefined ? [] : [{ object: asked, mayFail: certificateMayFail }]),
  ];
}

/** Secrets that the cluster may have from an earlier `tls`: where they go with the data, they are named when it is deleted. */
export function formerCertificates(cluster: Cluster<RedisSpec>): Desired[] {
  const { metadata } = cluster;
  if (metadata.deletionTimestamp === undefined) return [];
  const { certificate: copy, authority, ownCertificate } = redisNames(metadata.name);
  const named = certificateChildren(cluster).map(({ object }) => object.metadata.name);
  return [copy, authority, ownCertificate].flatMap((name) =>
    named.includes(name) ? [] : [issuedSecret(cluster, name)],
  );
}

function certificateAsked(cluster: Cluster<RedisSpec>): KubeObject | undefined {
  const source = cluster.spec.tls?.server.certManager;
  if (source === undefined) return undefined;
  const { name } = cluster.metadata;
  const { issued } = redisNames(name);
  const { issuerRef, duration, renewBefore } = source;
  return certificate({
    metadata: ownedMetadata(cluster, issued, partOf(cluster)),
    secretName: issued,
    organisation: name,
    dnsNames: serverNames(cluster),
    issuerRef: { name: issuerRef.name, kind: issuerRef.kind, group: issuerRef.group },
    durationHours: hoursOf(duration),
    ...(renewBefore === undefined ? {} : { renewBeforeHours: hoursOf(renewBefore) }),
  });
}

/** On the ConfigMap for clients: since when it has had the CAs that it has. */
const sinceAnnotation = 'clusterwright.dev/trusted-since';

export function trustedIn(live: KubeObject): string | undefined {
  return (live.data as Readonly<Record<string, string>> | undefined)?.[leafKeys.trusted];
}

/** Milliseconds. Undefined where it does not say so, or somebody has written a time to come. */
export function trustedSince({ metadata }: KubeObject, now: number): number | undefined {
  const since = Date.parse(metadata.annotations?.[sinceAnnotation] ?? '');
  return since <= now ? since : undefined;
}

/**
 * @param trusted the CAs of the copy, for clients: without a key beside them
 * @param live the ConfigMap as it is
 * @param now in milliseconds
 */
export function serverCaChildren(
  cluster: Cluster<RedisSpec>,
  trusted: string | undefined,
  live?: KubeObject,
  now?: number,
): Desired[] {
  if (cluster.spec.tls === undefined || trusted === undefined) return [];
  const { serverCa } = redisNames(cluster.metadata.name);
  const isSame = live !== undefined && trustedIn(live) === trusted;
  const since = (isSame ? trustedSince(live, now ?? Number.POSITIVE_INFINITY) : undefined) ?? now;
  const metadata = ownedMetadata(cluster, serverCa, partOf(cluster));
  const annotations = since === undefined ? {} : { annotations: { [sinceAnnotation]: new Date(since).toISOString() } };
  const object = configMap({ ...metadata, ...annotations }, { [leafKeys.trusted]: trusted });
  return [{ object, mayFail: certificateMayFail }];
}

/** Name of the folder that pods keep these files in, as `stage_certificate` of `tls.sh` makes it. */
export function certificateDigest(values: Values): string {
  // With the key: a copy that got the right one later is another one.
  const { certificate: shown, key, trusted } = leafKeys;
  return createHash('sha256')
    .update(`${values[shown] ?? ''}${values[key] ?? ''}${values[trusted] ?? ''}`)
    .digest('hex')
    .slice(0, 16);
}
