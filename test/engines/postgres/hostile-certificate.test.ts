/** A source of the members' certificate that somebody has made to cost the operator time. */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Values } from '../../../src/certificates/facts.ts';
import { observeShown } from '../../../src/engines/postgres/observe/shown-certificate.ts';
import { keyTooLong, refusalOf } from '../../../src/system/accepted.ts';
import { postgresCluster, postgresWorld } from '../../support/postgres-situation.ts';
import { scriptedPatroni } from '../../support/scripted-patroni.ts';
import { brought, company, fromSecret, source } from '../../support/shown-certificates.ts';

const asNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const asText = (number: bigint): string => {
  const digits = number.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex').toString('base64url');
};

/** RSA with parts that do not fit together: OpenSSL finds that out, and computes it the long way. No prime has to be found. */
function slowKey(bits: number): string {
  const odd = (): bigint => {
    const bytes = randomBytes(bits / 16);
    bytes[0] = (bytes[0] ?? 0) | 0xc0;
    return asNumber(bytes) | 1n;
  };
  const [p, q] = [odd(), odd()];
  const numbers = { n: p * q, d: p * q - 2n, p, q, dp: p - 2n, dq: q - 2n, qi: q % p };
  const texts = Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, asText(number)]));
  const key = { kty: 'RSA', e: 'AQAB', ...texts };
  return createPrivateKey({ key, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }) as string;
}

it.each([
  [16384, true],
  [4096, false],
])('a key of %i bits is too long for a handshake in the operator: %s', async (bits, isTooLong) => {
  const ca = company();
  const cert = brought(ca)['tls.crt'] ?? '';
  const code = await refusalOf({ cert, key: slowKey(bits) }, ca.certificate);
  expect(code === keyTooLong).toBe(isTooLong);
});

it('the key is used once for each reading of the Secret', async () => {
  const { observed } = postgresWorld();
  let uses = 0;
  const counted = (): Values => {
    const { 'tls.key': key = '', ...open } = brought(company());
    const get = (): string => {
      uses++;
      return key;
    };
    return Object.defineProperty({ ...open }, 'tls.key', { enumerable: true, get });
  };
  const secrets = { [source]: counted(), 'db-shown-tls': brought(company()) };
  const { io } = scriptedPatroni(observed, secrets);
  // TLS asks the clock of the machine.
  const look = () => observeShown(postgresCluster(fromSecret), { ...io, now: Date.now });
  expect((await look())?.source.source.fault).toBeUndefined();
  const once = uses;
  await look();
  expect([once > 0, uses]).toEqual([true, once]);
  secrets[source] = counted();
  await look();
  expect(uses).toBeGreaterThan(once);
});
