/** A source of the members' certificate that somebody has made to cost the operator time. */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { observeShown } from '../../../src/engines/postgres/observe/shown-certificate.ts';
import * as accepted from '../../../src/system/accepted.ts';
import { postgresCluster, postgresWorld } from '../../support/postgres-situation.ts';
import { scriptedPatroni } from '../../support/scripted-patroni.ts';
import { brought, company, fromSecret, source } from '../../support/shown-certificates.ts';

vi.mock('../../../src/system/accepted.ts', { spy: true });

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
  const code = await accepted.refusalOf({ cert, key: slowKey(bits) }, ca.certificate);
  expect(code === accepted.keyTooLong).toBe(isTooLong);
});

it('handshakes are made once for each reading of the Secrets', async () => {
  const tried = vi.mocked(accepted.refusalOf);
  tried.mockClear();
  const [first, second] = [company(), company()];
  const { observed } = postgresWorld();
  const secrets = { [source]: brought(second), 'db-shown-tls': brought(first) };
  const { io } = scriptedPatroni(observed, secrets);
  const look = () => observeShown(postgresCluster(fromSecret), { ...io, now: Date.now });
  await look();
  const once = tried.mock.calls.length;
  await look();
  expect([once > 0, tried.mock.calls.length]).toEqual([true, once]);
  secrets[source] = brought(second);
  await look();
  expect(tried.mock.calls.length).toBeGreaterThan(once);
});
