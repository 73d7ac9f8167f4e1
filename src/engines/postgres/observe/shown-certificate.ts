/**
 * What the source of the members' certificate says, and the copy that they have. Secrets are not watched, so the source is read again every
 * half minute.
 *
 * Members that start with a certificate that PostgreSQL cannot load do not start, and standbys that refuse the primary's do not copy. So it is
 * tried before: see `plan/tried-source.ts`.
 */
import type { X509Certificate } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { CopySeen } from '../../../certificates/copied.ts';
import { certificatesIn, leafKeys, type Values } from '../../../certificates/facts.ts';
import { certificateOf, isSignedBy } from '../../../certificates/x509.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { readCopy } from '../../../plan/certificates-seen.ts';
import { triedSource } from '../../../plan/tried-source.ts';
import * as trial from '../../../system/accepted.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames } from '../names.ts';
import { casDigest, shownWanted } from '../resources/shown-certificate.ts';

export interface ShownSeen {
  readonly source: CopySeen;
  /** Digest of the CAs of the source. */
  readonly sourceCas: string;
  /** The operator's certificate as the source. Only where there is no copy. */
  readonly own?: CopySeen;
  readonly copy?: CopyContent;
}

export interface CopyContent {
  /** PEM texts of the CAs alone: clients are told, who must not see a key that somebody has put beside them. */
  readonly trusted: string;
  /** Digest of the CAs as the file has them: see `casDigest`. */
  readonly cas: string;
  /** Of the certificate that is shown. */
  readonly fingerprint: string;
  /** Of the names that clients call members by, those that it is not valid for. */
  readonly missingNames: readonly string[];
}

/** After which a source is read again. */
export const readEveryMs = 30_000;

export async function observeShown(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<ShownSeen | undefined> {
  const wanted = shownWanted(cluster);
  if (wanted === undefined) return undefined;
  const { name } = cluster.metadata;
  const { server } = postgresNames(name).certificates;
  const read = (secret: string): Promise<Values | undefined> => io.secret(secret, { of: name });
  const told = String(Math.floor(io.now() / readEveryMs));
  const [source, copy] = await Promise.all([
    wanted.from === server ? read(server) : io.secret(wanted.from, undefined, told),
    read(wanted.secret),
  ]);
  const seen = await triedSource(source, copy, io.now(), trial, signatureFault);
  const content = contentOf(cluster, copy);
  const sourceCas = casDigest(source?.[leafKeys.trusted] ?? '');
  if (content !== undefined) return { source: seen, sourceCas, copy: content };
  return { source: seen, sourceCas, own: readCopy(await read(server), copy) };
}

function contentOf({ metadata }: Cluster<PostgresSpec>, copy: Values | undefined): CopyContent | undefined {
  const leaf = certificateOf(copy?.[leafKeys.certificate]);
  const trusted = copy?.[leafKeys.trusted];
  if (leaf === undefined || trusted === undefined) return undefined;
  const { primary, replicas } = postgresNames(metadata.name);
  const names = [primary, replicas].map((service) => `${service}.${metadata.namespace}.svc`);
  return {
    trusted: certificatesIn(trusted).join(''),
    cas: casDigest(trusted),
    fingerprint: leaf.fingerprint256,
    missingNames: names.filter((name) => leaf.checkHost(name) === undefined),
  };
}

/** PostgreSQL binds a login to the certificate by the hash that has signed it. Ed25519 has none, and no password would be accepted. */
function signatureFault(source: Values): string | undefined {
  const read = (key: string): X509Certificate[] =>
    certificatesIn(source[key] ?? '').flatMap((text) => certificateOf(text) ?? []);
  const [leaf, ...chain] = read(leafKeys.certificate);
  if (leaf === undefined) return undefined;
  const signer = [...chain, ...read(leafKeys.trusted)].find((one) => isSignedBy(leaf, one));
  const type = signer?.publicKey.asymmetricKeyType ?? '';
  return ['ed25519', 'ed448'].includes(type)
    ? `has a tls.crt that is signed with ${type}: PostgreSQL accepts no password on such a connection; use a CA with an ECDSA or RSA key`
    : undefined;
}
