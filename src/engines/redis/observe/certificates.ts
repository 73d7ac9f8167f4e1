/**
 * What the source of the certificate says, and the copy that servers get. Secrets are read by name. They are not watched, so the source is read
 * again every half minute.
 */
import { shortened } from '../../../api/bounds.ts';
import type { Cluster } from '../../../api/cluster.ts';
import { type CopySeen, copied } from '../../../certificates/copied.ts';
import { certificatesIn, leafKeys, type Values } from '../../../certificates/facts.ts';
import { certificateOf } from '../../../certificates/x509.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { type ReadSecret, readAuthority, readCopy } from '../../../plan/certificates-seen.ts';
import type { AuthoritySeen } from '../../../plan/issuance.ts';
import { triedSource } from '../../../plan/tried-source.ts';
import * as trial from '../../../system/accepted.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { authorityWanted, certificateDigest, copyWanted, serverName } from '../resources/certificates.ts';

export interface CertificatesSeen {
  /** Why nothing is known of the Secrets that the operator writes. Nothing is made of them then. */
  readonly unread?: string;
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
/** Of a copy. Pods take no larger one. It has the CAs of more than two sources where they follow each other within minutes. */
const mostCopied = 250_000;

const sizeOf = (values: Values, ...keys: readonly string[]): number =>
  keys.reduce((sum, name) => sum + Buffer.byteLength(values[name] ?? ''), 0);

function sizeFault(source: Values, copy: Values | undefined): string | undefined {
  const { certificate, key, trusted } = leafKeys;
  const size = sizeOf(source, certificate, key, trusted);
  if (size > mostBytes) return `has ${size} bytes in tls.crt, tls.key and ca.crt, more than ${mostBytes}`;
  if (copy === undefined || certificateOf(copy[certificate]) === undefined) return undefined;
  const together =
    sizeOf(copied('next-ca', source, copy, 0), trusted) +
    Math.max(sizeOf(source, certificate, key), sizeOf(copy, certificate, key));
  return together > mostCopied
    ? `has CAs that make ${together} bytes with those that clients trust now, more than ${mostCopied}: bring back the certificate of before, until only its CAs are trusted`
    : undefined;
}

/**
 * A server signs in its one thread, in which nobody else is served: 7 ms with RSA of 4096 bits, 42 ms with 8192 (1 ms with ECDSA). Anybody who
 * reaches the port can ask for that.
 */
const longestKeyBits = 4096;

function keyFault(source: Values): string | undefined {
  const bits = certificateOf(source[leafKeys.certificate])?.publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  return bits > longestKeyBits ? `has a tls.key with more than ${longestKeyBits} bits` : undefined;
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
  const readSource = authority === undefined ? io.secret(wanted.from, undefined, told) : readOwn(wanted.from);
  const [source, copy, own] = await Promise.all([
    orWhy(readSource, io),
    orWhy(readOwn(wanted.secret), io),
    authority === undefined ? undefined : orWhy(readAuthority(authority, readOwn), io),
  ]);
  if (copy instanceof Unread || own instanceof Unread) {
    const [why] = [copy, own].flatMap((one) => (one instanceof Unread ? [one.message] : []));
    return { unread: `a Secret with certificates cannot be read: ${why}`, source: unknownCopy };
  }
  const content = contentOf(cluster, copy);
  const seen =
    source instanceof Unread
      ? { ...readCopy(undefined, copy), source: { digest: '', fault: `cannot be read: ${source.message}` } }
      : await triedSource(source, copy, io.now(), trial, (values) => sizeFault(values, copy) ?? keyFault(values));
  return {
    source: seen,
    ...(own === undefined ? {} : { own }),
    ...(content === undefined ? {} : { copy: content }),
  };
}

const unknownCopy: CopySeen = { source: { digest: '' }, copy: { digest: '' } };

/** A Secret that nobody can read, for one since its key is away, is no reason to look at nothing else. */
class Unread extends Error {}

function orWhy<Result>(reading: Promise<Result>, io: EngineContext): Promise<Result | Unread> {
  return reading.catch((error: unknown) => {
    io.signal.throwIfAborted();
    return new Unread(shortened((error as Error).message, 200));
  });
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
