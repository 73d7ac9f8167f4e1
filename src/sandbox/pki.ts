/**
 * Keys, certificates and tokens, made anew for every sandbox.
 *
 * Elliptic keys, one openssl call a certificate: all of it takes a tenth of a second. Tokens are random, so that a
 * sandbox on a shared network is nobody else's.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';
import { addresses, kubeconfigPath, type Layout, maxNodes, nodeLayouts, paths, ports } from './layout.ts';

interface Certificate {
  readonly name: string;
  /** As openssl writes it: `/O=group/CN=user`. */
  readonly subject: string;
  readonly usage: 'serverAuth' | 'clientAuth';
  /** `DNS:name` or `IP:address`. */
  readonly names: readonly string[];
}

interface User {
  /** File name of the token and the kubeconfig. */
  readonly name: string;
  readonly user: string;
  readonly group?: string;
}

const days = '365';

export const certificates: readonly Certificate[] = [
  {
    name: 'apiserver',
    subject: '/CN=kube-apiserver',
    usage: 'serverAuth',
    names: [
      ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'].map((name) => `DNS:${name}`),
      ...['127.0.0.1', addresses.apiService, addresses.bridge].map((address) => `IP:${address}`),
    ],
  },
  {
    // Anonymous access to kubelets is off: without a client certificate exec and logs are refused.
    name: 'kubelet-client',
    subject: '/O=system:masters/CN=apiserver-kubelet-client',
    usage: 'clientAuth',
    names: [],
  },
  {
    // One for all: a kubelet that makes its own spends a third of a second on it.
    name: 'kubelet',
    subject: '/CN=kubelet',
    usage: 'serverAuth',
    names: nodeLayouts({ run: '', data: '', cache: '' }, maxNodes).map((node) => `IP:${node.address}`),
  },
];

export const users: readonly User[] = [
  { name: 'admin', user: 'admin', group: 'system:masters' },
  // One account for all controllers: to make one for each takes four seconds of a start.
  { name: 'controller-manager', user: 'system:kube-controller-manager', group: 'system:masters' },
  { name: 'scheduler', user: 'system:kube-scheduler' },
  { name: 'proxy', user: 'system:kube-proxy' },
  { name: 'dns', user: 'dns', group: 'system:masters' },
  { name: 'volumes', user: 'volumes', group: 'system:masters' },
  { name: 'network-policies', user: 'network-policies', group: 'system:masters' },
  ...Array.from({ length: maxNodes }, (_, index) => ({
    name: `node${index + 1}`,
    user: `system:node:node${index + 1}`,
    group: 'system:nodes',
  })),
];

/** openssl's configuration: the authority, and one section for every certificate. */
export function opensslConfig(): string {
  const section = (certificate: Certificate): string =>
    [
      `[${certificate.name}]`,
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature',
      `extendedKeyUsage=${certificate.usage}`,
      ...(certificate.names.length === 0 ? [] : [`subjectAltName=${certificate.names.join(',')}`]),
    ].join('\n');
  return `${[
    '[req]\ndistinguished_name=subject\n[subject]',
    '[ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash',
    ...certificates.map(section),
  ].join('\n')}\n`;
}

/** A kubeconfig that needs no other file. */
export function kubeconfig(server: string, authority: string, token: string): string {
  const name = 'clusterwright-sandbox';
  return `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name, cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } },
      ],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    },
    null,
    2,
  )}\n`;
}

/** Writes keys, certificates, tokens and a kubeconfig for every user. `address` is where the API server listens. */
export async function createPki(layout: Layout, address: string): Promise<void> {
  const { pki } = paths(layout);
  await mkdir(pki, { recursive: true, mode: 0o700 });
  const file = (name: string): string => join(pki, name);
  await writeFile(file('openssl.cnf'), opensslConfig());

  const request = (name: string, subject: string, issuer: readonly string[]): Promise<string> =>
    run('openssl', [
      ...['req', '-x509', '-config', file('openssl.cnf'), '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
      ...['-nodes', '-days', days, '-subj', subject, '-extensions', name],
      ...['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`), ...issuer],
    ]);
  await request('ca', '/CN=clusterwright-sandbox-ca', []);
  const issuer = ['-CA', file('ca.crt'), '-CAkey', file('ca.key')];

  const serviceAccounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const tokens = users.map((user) => ({ ...user, token: randomBytes(24).toString('hex') }));
  const authority = await readFile(file('ca.crt'), 'utf8');
  await Promise.all([
    ...certificates.map((certificate) => request(certificate.name, certificate.subject, issuer)),
    secret(file('sa.key'), serviceAccounts.privateKey),
    secret(file('sa.pub'), serviceAccounts.publicKey),
    secret(
      file('tokens.csv'),
      tokens.map(({ token, user, name, group }) => `${token},${user},${name}${group ? `,"${group}"` : ''}\n`).join(''),
    ),
    ...tokens.map(({ name, token }) => secret(file(`${name}.token`), token)),
    ...tokens.map(async ({ name, token }) =>
      secret(kubeconfigPath(layout, name), kubeconfig(`https://${address}:${ports.apiserver}`, authority, token)),
    ),
  ]);
}

function secret(path: string, content: string): Promise<void> {
  return writeFile(path, content, { mode: 0o600 });
}
