/** A source whose CA has not signed its certificate itself: an intermediate has, which openssl makes here. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { casOf, copySeen } from '../../src/certificates/copied.ts';
import { certificatesIn } from '../../src/certificates/facts.ts';

let directory: string;
const read = (file: string): string => readFileSync(join(directory, file), 'utf8');
const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
};

function make(name: string, signer?: string, isCa = true): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`];
  if (signer === undefined) {
    openssl('req', '-x509', ...key, '-out', `${name}.crt`, '-subj', `/CN=${name}`, '-days', '2');
    return;
  }
  openssl('req', ...key, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  writeFileSync(join(directory, 'ext'), `basicConstraints=critical,CA:${isCa ? 'TRUE' : 'FALSE'}\n`);
  const by = ['-CA', `${signer}.crt`, '-CAkey', `${signer}.key`, '-CAcreateserial'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.crt`, '-days', '2', '-extfile', 'ext');
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'copied-'));
  make('root');
  make('other');
  make('above', 'root');
  make('middle', 'above');
  make('leaf', 'middle', false);
});
afterAll(() => rmSync(directory, { recursive: true }));

const source = (crt: readonly string[], ca: readonly string[]): Record<string, string> => ({
  'tls.crt': crt.map((name) => read(`${name}.crt`)).join(''),
  'tls.key': read('leaf.key'),
  'ca.crt': ca.map((name) => read(`${name}.crt`)).join(''),
});

it.each([
  ['the root, with all of the chain beside the certificate', ['leaf', 'middle', 'above'], ['root'], true],
  ['the root, with the chain in another order', ['leaf', 'above', 'middle'], ['other', 'root'], true],
  ['an intermediate', ['leaf'], ['middle'], true],
  ['the root, with a gap in the chain', ['leaf', 'above'], ['root'], false],
  ['the root of others', ['leaf', 'middle', 'above'], ['other'], false],
])('is usable or not where ca.crt is %s', (_, crt, ca, isUsable) => {
  const values = source(crt, ca);
  const { fault } = copySeen(values, undefined).source;
  expect(fault).toBe(isUsable ? undefined : 'has a ca.crt that has not signed its tls.crt');
  expect(casOf(values)?.signers.length).toBe(isUsable ? 1 : 0);
});

it('names each CA by the beginning of its fingerprint', () => {
  const { cas = [] } = casOf(source(['leaf'], ['other', 'middle'])) ?? {};
  expect([cas.length, certificatesIn(read('other.crt')).length]).toEqual([2, 1]);
  expect(cas.every((text) => /^[0-9a-f]{16}$/.test(text))).toBe(true);
});

it.each(['tls.crt', 'ca.crt'])(
  'takes no time for a Secret that is full of certificates in %s',
  (key) => {
    const good = source(['leaf', 'middle', 'above'], ['root']);
    const full = { ...good, [key]: read('root.crt').repeat(1000) };
    // Each would be compared with each: this is minutes.
    expect(copySeen(full, good)).toMatchObject({ source: { fault: expect.stringMatching(/more than 10 .*32 in ca/) } });
    expect(copySeen(good, full).copy.facts).toBeUndefined();
    expect(casOf(full)).toBeUndefined();
  },
  5000,
);

it('takes a copy with the CAs of two sources', () => {
  const good = source(['leaf', 'middle', 'above'], ['root']);
  const both = { ...good, 'ca.crt': read('root.crt') + read('other.crt').repeat(63) };
  expect(copySeen(good, both).copy.facts).toMatchObject({ isCurrent: true, isSameCa: true, hasOtherCa: true });
});

it('does not take a copy for the source whose key is another one', () => {
  const good = source(['leaf', 'middle', 'above'], ['root']);
  const mixed = { ...good, 'tls.key': read('root.key') };
  expect(copySeen(good, mixed).copy.facts).toMatchObject({ isCurrent: false, isSameCa: true });
});
