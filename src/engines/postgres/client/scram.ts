/**
 * SCRAM-SHA-256 (RFC 5802, RFC 7677) as a client. Both sides prove that they know the password, and neither sends it. A
 * server that does not prove it is refused: another process may have got the former address of a pod.
 */
import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ProtocolError } from './message-decoder.ts';

export const scramMechanism = 'SCRAM-SHA-256';

/** Of PostgreSQL, and the fewest that RFC 7677 allows: fewer make a password easy to guess from what is sent. */
export const scramIterations = 4096;
/** About a third of a second of one core. */
const mostIterations = 1_000_000;

export interface ScramKeys {
  readonly clientKey: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

export async function scramKeys(password: string, salt: Buffer, iterations: number): Promise<ScramKeys> {
  const salted = await promisify(pbkdf2)(Buffer.from(password), salt, iterations, 32, 'sha256');
  const clientKey = hmac(salted, 'Client Key');
  return {
    clientKey,
    storedKey: createHash('sha256').update(clientKey).digest(),
    serverKey: hmac(salted, 'Server Key'),
  };
}

export interface ScramExchange {
  readonly first: string;
  /** @throws ProtocolError where the server asks for something else */
  answer(serverFirst: string): Promise<ScramProof>;
}

export interface ScramProof {
  readonly message: string;
  /** @throws ProtocolError unless the server knows the password, too */
  verify(serverFinal: string): void;
}

/** There is no binding to the channel, and none is offered. */
const header = 'n,,';

/** @param nonce printable and never used before */
export function scramExchange(password: string, nonce: string): ScramExchange {
  // The server takes the user from the startup message.
  const bare = `n=,r=${nonce}`;
  return {
    first: header + bare,
    async answer(serverFirst) {
      const { full, salt, iterations } = challengeIn(serverFirst, nonce);
      const { clientKey, storedKey, serverKey } = await scramKeys(password, salt, iterations);
      const unproved = `c=${Buffer.from(header).toString('base64')},r=${full}`;
      const transcript = `${bare},${serverFirst},${unproved}`;
      const proof = xor(clientKey, hmac(storedKey, transcript)).toString('base64');
      const signature = hmac(serverKey, transcript);
      return {
        message: `${unproved},p=${proof}`,
        verify: (serverFinal) => requireSignature(serverFinal, signature),
      };
    },
  };
}

function challengeIn(text: string, nonce: string) {
  // Extensions that must be understood come first, as `m=`: there are none.
  const [, full = '', salt = '', count = ''] =
    /^r=([\x21-\x2b\x2d-\x7e]+),s=([A-Za-z0-9+/]+={0,2}),i=([1-9]\d{0,9})(?:,.*)?$/.exec(text) ?? [];
  if (full === '') throw new ProtocolError('the challenge of the server is no SCRAM');
  if (!full.startsWith(nonce) || full.length === nonce.length) {
    throw new ProtocolError('the challenge of the server is an answer to somebody else');
  }
  const iterations = Number(count);
  if (iterations < scramIterations || iterations > mostIterations) {
    throw new ProtocolError(`the server asks for ${iterations} iterations`);
  }
  return { full, salt: Buffer.from(salt, 'base64'), iterations };
}

function requireSignature(serverFinal: string, expected: Buffer): void {
  const [, encoded = ''] = /^v=([A-Za-z0-9+/]{43}=)(?:,.*)?$/.exec(serverFinal) ?? [];
  const signature = Buffer.from(encoded, 'base64');
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    throw new ProtocolError('the server does not prove that it knows the password');
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, i) => byte ^ (other[i] ?? 0)));
}
