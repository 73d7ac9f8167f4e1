/** TLS on a connection that is open: from its first byte, or where a protocol agrees on it later. */
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

export interface TlsOptions {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the certificate must be for, where it is not `host`. */
  readonly servername?: string;
  /** The certificate may be for any name. Its CA is checked. */
  readonly anyName?: boolean;
}

/** Of the certificate that the peer has shown. On the stream itself, so that a recording can have it, too. */
export interface WithFingerprint {
  readonly peerFingerprint?: string | undefined;
}

export function fingerprintOf(stream: Duplex & WithFingerprint): string | undefined {
  return stream.peerFingerprint;
}

/** Rejects where the peer's certificate does not do, and when the signal aborts; the connection is over then. */
export function secured(plain: Duplex, host: string, tls: TlsOptions, signal: AbortSignal): Promise<Duplex> {
  return new Promise<Duplex>((resolve, reject) => {
    const { servername, anyName = false, ...material } = tls;
    const name = servername === undefined ? {} : { servername };
    const unnamed = anyName ? { checkServerIdentity: () => undefined } : {};
    const stream = connectTls({ socket: plain, host, ...material, ...name, ...unnamed });
    const give = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      plain.destroy();
      reject(error);
    };
    const abort = (): void => give(signal.reason as Error);
    stream.once('error', give);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    plain.once('close', () => reject(new Error('the connection ended before TLS was agreed')));
    stream.once('secureConnect', () => {
      stream.off('error', give);
      signal.removeEventListener('abort', abort);
      const peerFingerprint = stream.getPeerX509Certificate()?.fingerprint256;
      resolve(Object.assign(stream, { peerFingerprint } satisfies WithFingerprint));
    });
  });
}
