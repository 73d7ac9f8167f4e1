/**
 * What the source of the certificate says, and the copy that servers get. Secrets are read by name. They are not watched, so the source is read
 * again every half minute.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { CopySeen } from '../../../certificates/copied.ts';
import { certificatesIn, leafKeys, type Values } from '../../../certificates/facts.ts';
import { certificateOf } from '../../../certificates/x509.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { type ReadSecret, readAuthority } from '../../../plan/certificates-seen.ts';
import type { AuthoritySeen } from '../../../plan/issuance.ts';
import { triedSource } from '../../../plan/tried-source.ts';
import * as trial from '../../../system/accepted.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { authorityWanted, certificateDigest, copyWanted, serverName } from '../resources/certificates.ts';

export interface CertificatesSeen {
  readonly source: CopySeen;
  /** Of the operator's own CA, where that is the source. */
  readonly own?: AuthoritySeen;
  readonly copy?: CertificateCopy;
}

export interface CertificateCopy {
  /** PEM texts of the CAs alone: clients are told, who must not see a key that somebody has put beside them. */
  readonly trusted: string;
  /** As in the path of the files that a server has read. */
  readonly digest: string;
  /** Of the certificate that servers show. */
  readonly fingerprint: string;
  /** The name by which the operator knows servers, where the certificate is not valid for it. */
  readonly missingName?: string;
}

/** After which a source is read again. */
export const readEveryMs = 30_000;

/**
 * Bytes of certificate, key and CAs. Pods keep copies of them in a memory-backed volume of 1 MiB: up to three, each of which may have the CAs of two
 * sources (`shell/tls.sh`).
 */
const mostBytes = 100_000;

function sizeFault(source: Values): string | undefined {
  const { certificate, key, trusted } = leafKeys;
  const size = [certificate, key, trusted].reduce((sum, name) => sum + Buffer.byteLength(source[name] ?? ''), 0);
  return size > mostBytes ? `has ${size} bytes in tls.crt, tls.key and ca.crt, more than ${mostBytes}` : undefined;
}

/** Undefined where the spec asks for no TLS. */
export async function observeCertificates(
  cluster: Cluster<RedisSpec>,
  io: EngineContext,
): Promise<CertificatesSeen | undefined> {
  const wanted = copyWanted(cluster);
  if (wanted === undefined) return undefined;
  const of = cluster.metadata.name;
  // Another CA of the name could sign certificates for these servers.
  const readOwn: ReadSecret = (name) => io.secret(name, { of });
  const authority = authorityWanted(cluster);
  const told = String(Math.floor(io.now() / readEveryMs));
  const [source, copy, own] = await Promise.all([
    authority === undefined ? io.secret(wanted.from, undefined, told) : readOwn(wanted.from),
    readOwn(wanted.secret),
    authority === undefined ? undefined : readAuthority(authority, readOwn),
  ]);
  const content = contentOf(cluster, copy);
  return {
    source: await triedSource(source, copy, io.now(), trial, sizeFault),
    ...(own === undefined ? {} : { own }),
    ...(content === undefined ? {} : { copy: content }),
  };
}

function contentOf(cluster: Cluster<RedisSpec>, copy: Values | undefined): CertificateCopy | undefined {
  const leaf = certificateOf(copy?.[leafKeys.certificate]);
  const trusted = copy?.[leafKeys.trusted];
  if (copy === undefined || leaf === undefined || trusted === undefined) return undefined;
  const name = serverName(cluster);
  return {
    trusted: certificatesIn(trusted).join(''),
    digest: certificateDigest(copy),
    fingerprint: leaf.fingerprint256,
    ...(leaf.checkHost(name) === undefined ? { missingName: name } : {}),
  };
}
