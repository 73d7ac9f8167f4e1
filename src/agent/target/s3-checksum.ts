/**
 * The checksum that goes with everything that is written. A bucket with object lock refuses what has none.
 *
 * It is of the bytes that are in memory, and a header of its own: no trailer, which many servers do not know. A server
 * that refuses SHA-256 is sent Content-MD5, which all of them have known from the beginning.
 */
import { createHash } from 'node:crypto';

export type ChecksumKind = 'sha256' | 'md5';

export interface Checksum {
  readonly ChecksumSHA256?: string;
  readonly ContentMD5?: string;
}

export function checksumOf(kind: ChecksumKind, content: Uint8Array): Checksum {
  const hash = createHash(kind).update(content).digest('base64');
  return kind === 'sha256' ? { ChecksumSHA256: hash } : { ContentMD5: hash };
}

const refusals: ReadonlySet<string> = new Set([
  'InvalidArgument',
  'InvalidHeader',
  'InvalidRequest',
  'MalformedXML',
  'NotImplemented',
  'XAmzContentChecksumMismatch',
]);

/** Whether the answer may be about the checksum, from a server that does not know it. */
export function refusesChecksum(error: unknown): boolean {
  const { name, $metadata } = (error ?? {}) as {
    readonly name?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  return (typeof name === 'string' && refusals.has(name)) || $metadata?.httpStatusCode === 501;
}
