/** An authority made for one test, and certificates for members, by default those of `db`: by openssl, in a tenth of a second. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** As in a Secret that cert-manager writes. */
export type Certificates = Readonly<Record<'ca.crt' | 'tls.crt' | 'tls.key', string>>;

export interface Authority {
  /** A certificate of its own each time. */
  issue(
    addresses: readonly string[],
    cluster?: { readonly name: string; readonly namespace: string },
    more?: readonly string[],
  ): Certificates;
  close(): void;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function openAuthority(): Authority {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-certificates-'));
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  };
  const read = (file: string): string => readFileSync(join(directory, file), 'utf8');
  // Strict clients, such as Python's from 3.13 on, ask for this, and for the identifier of the authority in leaves.
  const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-subj',
    '/CN=test',
    '-days',
    '2',
    ...usage,
  );
  return {
    issue(addresses, { name, namespace } = { name: 'db', namespace: 'apps' }, more = []) {
      const hosts = [`*.${name}.${namespace}.svc`, `${name}-client.${namespace}.svc`, ...more];
      const names = [...hosts.map((host) => `DNS:${host}`), ...addresses.map((address) => `IP:${address}`)];
      const extensions = `subjectAltName=${names.join(',')}\nextendedKeyUsage=serverAuth,clientAuth\nauthorityKeyIdentifier=keyid\n`;
      writeFileSync(join(directory, 'extensions'), extensions);
      // Without a common name: etcd would take it for the name of a user.
      openssl('req', ...newKey, '-keyout', 'tls.key', '-out', 'tls.csr', '-subj', '/O=members');
      const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
      openssl(
        'x509',
        '-req',
        '-in',
        'tls.csr',
        ...authority,
        '-out',
        'tls.crt',
        '-days',
        '2',
        '-extfile',
        'extensions',
      );
      return { 'ca.crt': read('ca.crt'), 'tls.crt': read('tls.crt'), 'tls.key': read('tls.key') };
    },
    close: () => rmSync(directory, { recursive: true }),
  };
}
