/** What is written here is read by others: node's parser, openssl, and both ends of a TLS connection. */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeAuthority, makeLeaf, systemRandomness, type Usage } from '../../src/certificates/certificate.ts';

const dayMs = 86_400_000;
const now = Date.parse('2026-11-21T12:00:00Z');
const decade = { from: now, to: now + 3650 * dayMs };
const quarter = { from: now, to: now + 90 * dayMs };
const usageNames = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/** Names as Kubernetes makes them, some of them long enough that lengths need more than one byte. */
const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/);
const dnsName = fc
  .tuple(fc.boolean(), fc.array(label, { minLength: 1, maxLength: 5 }))
  .map(([isWild, labels]) => [...(isWild ? ['*'] : []), ...labels].join('.'));
const address = fc
  .array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })
  .map((bytes) => bytes.join('.'));
const usages = fc.subarray<Usage>(['server', 'client'], { minLength: 1 });
/** Whole seconds, on both sides of the year 2050, from which on dates are written in another form. */
const life = fc
  .tuple(fc.integer({ min: 0, max: 40 * 365 * 24 * 3600 }), fc.integer({ min: 3600, max: 20 * 365 * 24 * 3600 }))
  .map(([from, length]) => ({ from: now + from * 1000, to: now + (from + length) * 1000 }));

describe('any certificate', () => {
  it('says what was asked for, and its authority vouches for it', () => {
    fc.assert(
      fc.property(
        label,
        fc.array(dnsName, { maxLength: 12 }),
        fc.array(address, { maxLength: 3 }),
        usages,
        life,
        (name, names, addresses, wanted, span) => {
          const authority = makeAuthority(name, { from: span.from, to: span.to + dayMs });
          const leaf = makeLeaf({ organisation: name, names, addresses, usages: wanted }, span, authority);
          const [above, below] = [new X509Certificate(authority.certificate), new X509Certificate(leaf.certificate)];
          expect([above.ca, above.checkIssued(above), above.verify(above.publicKey)]).toEqual([true, true, true]);
          expect(above.subject).toMatch(new RegExp(`^CN=${name}-[0-9a-f]{8}$`));
          expect([below.ca, below.checkIssued(above), below.verify(above.publicKey)]).toEqual([false, true, true]);
          expect(below.subject).toBe(`O=${name}`);
          expect(below.keyUsage?.sort()).toEqual(wanted.map((usage) => usageNames[usage]).sort());
          const said = [...names.map((one) => `DNS:${one}`), ...addresses.map((one) => `IP Address:${one}`)];
          expect(below.subjectAltName ?? '').toBe(said.join(', '));
          expect([Date.parse(below.validFrom), Date.parse(below.validTo)]).toEqual([span.from, span.to]);
          expect(below.checkPrivateKey(createPrivateKey(leaf.key))).toBe(true);
          expect(below.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
          const stranger = new X509Certificate(makeAuthority(name, decade).certificate);
          expect([below.checkIssued(stranger), below.verify(stranger.publicKey)]).toEqual([false, false]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('ends with its authority at the latest', () => {
    const authority = makeAuthority('db-peer-ca', { from: now, to: now + 10 * dayMs });
    const leaf = makeLeaf({ organisation: 'db', names: ['a'], usages: ['server'] }, quarter, authority);
    expect(Date.parse(new X509Certificate(leaf.certificate).validTo)).toBe(now + 10 * dayMs);
  });

  it('has the same content wherever the same keys and numbers come from', () => {
    const pair = systemRandomness.keyPair();
    const random = { keyPair: () => pair, bytes: (count: number) => Buffer.alloc(count, 7) };
    const [one, other] = [makeAuthority('db', decade, random), makeAuthority('db', decade, random)];
    const [a, b] = [one, other].map(({ certificate }) => new X509Certificate(certificate).raw);
    // What is signed is the same; a signature never is.
    const signedPart = (raw: Buffer | undefined): Buffer | undefined =>
      raw?.subarray(4, 4 + 4 + (raw.readUInt16BE(6) ?? 0));
    expect(signedPart(a)).toEqual(signedPart(b));
  });

  it('is called by at most 64 characters, however long the name is', () => {
    const { subject } = new X509Certificate(makeAuthority('n'.repeat(200), decade).certificate);
    expect(subject.length).toBe('CN='.length + 64);
  });
});

describe('openssl', () => {
  it('takes the chain for both purposes, by name and by address', () => {
    const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
    try {
      const authority = makeAuthority('db-client-ca', decade);
      const names = ['*.db.apps.svc', 'db-client.apps.svc'];
      const leaf = makeLeaf(
        { organisation: 'db', names, addresses: ['127.0.0.1'], usages: ['server', 'client'] },
        quarter,
        authority,
      );
      writeFileSync(join(directory, 'ca.crt'), authority.certificate);
      writeFileSync(join(directory, 'tls.crt'), leaf.certificate);
      const verify = (...args: string[]): string =>
        execFileSync(
          'openssl',
          ['verify', '-x509_strict', '-attime', String(now / 1000 + 60), '-CAfile', 'ca.crt', ...args, 'tls.crt'],
          {
            cwd: directory,
            encoding: 'utf8',
            stdio: 'pipe',
          },
        );
      expect(verify('-purpose', 'sslserver', '-verify_hostname', 'db-0-0.db.apps.svc')).toContain('OK');
      expect(verify('-purpose', 'sslclient', '-verify_ip', '127.0.0.1')).toContain('OK');
      expect(() => verify('-purpose', 'sslserver', '-verify_hostname', 'other.apps.svc')).toThrow('hostname mismatch');
      expect(() => verify('-purpose', 'smimesign')).toThrow('purpose');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('a TLS connection', () => {
  it('is made by two that show certificates of one authority, and by no stranger', async () => {
    const from = Date.now() - 60_000;
    const authority = makeAuthority('db-peer-ca', { from, to: from + 30 * dayMs });
    const request = { organisation: 'db', names: ['*.db.apps.svc'], usages: ['server', 'client'] } as const;
    const own = makeLeaf(request, { from, to: from + dayMs }, authority);
    const server = createServer(
      { ca: authority.certificate, cert: own.certificate, key: own.key, requestCert: true, minVersion: 'TLSv1.3' },
      (socket) => socket.end('welcome'),
    );
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const greet = (shown: { readonly cert: string; readonly key: string } | undefined): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect({
          port,
          host: '127.0.0.1',
          ca: authority.certificate,
          servername: 'db-0-0.db.apps.svc',
          ...shown,
        });
        let text = '';
        socket.on('data', (chunk) => {
          text += String(chunk);
        });
        socket.once('end', () => resolve(text));
        socket.once('error', reject);
      });
    try {
      const peer = makeLeaf(request, { from, to: from + dayMs }, authority);
      await expect(greet({ cert: peer.certificate, key: peer.key })).resolves.toBe('welcome');
      const other = makeAuthority('db-client-ca', { from, to: from + 30 * dayMs });
      const stranger = makeLeaf(request, { from, to: from + dayMs }, other);
      // Whether the refusal or the end comes first is not said.
      expect(await greet({ cert: stranger.certificate, key: stranger.key }).catch(() => '')).toBe('');
      expect(await greet(undefined).catch(() => '')).toBe('');
    } finally {
      server.close();
    }
  });
});
