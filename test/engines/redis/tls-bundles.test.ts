/** Bundles of CAs that pods have no room for: they are refused before any pod is given them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { RedisSpec } from '../../../src/engines/redis/kind/schema.ts';
import { observeCertificates } from '../../../src/engines/redis/observe/certificates.ts';
import { madeBy, madeCa } from '../../support/issued-secrets.ts';
import { securedSample } from '../../support/redis-secured.ts';

const home = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(home, { recursive: true }));

/** A CA with a text of so many bytes in it. */
function largeCa(name: string, bytes: number): string {
  const [key, text] = [join(home, 'key'), join(home, 'text')];
  writeFileSync(
    text,
    `[req]\ndistinguished_name=n\nx509_extensions=e\n[n]\n[e]\nbasicConstraints=critical,CA:TRUE\nnsComment=${'x'.repeat(bytes)}\n`,
  );
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '9000'];
  return execFileSync('openssl', [...args, '-subj', `/CN=${name}`, '-keyout', key, '-config', text], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const { cluster, whole } = securedSample('a', 'password-of-clients', {
  tls: { server: { secretRef: { name: 'theirs' } } },
});
const now = Date.now();
const source = (name: string, count: number) => {
  const values = madeBy(madeCa(name, now), ['db-primary.apps.svc'], now - 3_600_000);
  const others = Array.from({ length: count }, (_, i) => largeCa(`${name}-${i}`, 6000));
  return { ...values, 'ca.crt': [values['ca.crt'], ...others].join('') };
};
const faultOf = async (theirs: Record<string, string>, copy: Record<string, string>): Promise<string | undefined> => {
  const secret: typeof whole.io.secret = async (name) => ({ theirs, 'db-shown-tls': copy })[name];
  const seen = await observeCertificates(cluster as Cluster<RedisSpec>, { ...whole.io, now: () => now, secret });
  return seen?.source.source.fault;
};

it('a source follows another, but no third one beside both', async () => {
  const [first, second, third] = [source('a', 10), source('b', 10), source('c', 10)];
  expect(await faultOf(second, first)).toBeUndefined();
  const both = { ...first, 'ca.crt': first['ca.crt'] + second['ca.crt'] };
  expect(await faultOf(second, both)).toBeUndefined();
  expect(await faultOf(third, both)).toMatch(
    /^has CAs that make \d+ bytes with those that clients trust now, more than 250000/,
  );
}, 60_000);

it('a source that is too large by itself is refused', async () => {
  expect(await faultOf(source('d', 13), source('e', 0))).toMatch(
    /^has \d+ bytes in tls.crt, tls.key and ca.crt, more than 100000$/,
  );
}, 60_000);
