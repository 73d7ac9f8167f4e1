/**
 * Whether clients accept a certificate: asked of OpenSSL itself, in a handshake within this process. It knows more reasons to refuse one
 * than can be listed.
 */
import { createPrivateKey } from 'node:crypto';
import { duplexPair } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';

export interface Shown {
  readonly cert: string;
  readonly key: string;
}

/** As Debian builds OpenSSL: keys and signatures that are too weak for it are refused. */
const ciphers = 'DEFAULT:@SECLEVEL=2';

/**
 * Nobody else is served while a server signs. With 16384 bits, and parts that do not fit together, that takes close to a second. Those who
 * issue certificates to servers take 4096 at most, as a rule.
 */
export const longestKeyBits = 8192;
export const keyTooLong = 'KEY_TOO_LONG';

/**
 * Why clients that trust `ca` refuse a server that shows `shown`, as a code such as `INVALID_PURPOSE`, or why no server can start with it.
 * Undefined: they accept it. The name that they call is left out.
 */
export async function refusalOf({ cert, key }: Shown, ca: string): Promise<string | undefined> {
  const [near, far] = duplexPair();
  try {
    if ((createPrivateKey(key).asymmetricKeyDetails?.modulusLength ?? 0) > longestKeyBits) return keyTooLong;
    const secureContext = createSecureContext({ cert, key, ciphers });
    const server = new TLSSocket(far, { isServer: true, secureContext });
    // The client tells why.
    server.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => {
      const options = { rejectUnauthorized: true, checkServerIdentity: () => undefined } as const;
      const client = connect({ socket: near, ca, ciphers, ...options });
      client.once('secureConnect', resolve).once('error', reject);
      client.once('close', () => reject(new Error('closed')));
    });
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  } finally {
    near.destroy();
    far.destroy();
  }
}
