/** The certificate that members show, as those see it who bring it and those who connect. */
import { X509Certificate } from 'node:crypto';
import { expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps, secrets } from '../../src/api/resource.ts';
import { type Issued, makeAuthority, makeLeaf } from '../../src/certificates/certificate.ts';
import { certificatesIn } from '../../src/certificates/facts.ts';
import type { PostgresTestCluster } from './postgres-test-cluster.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

const dayMs = 86_400_000;
export const life = () => ({ from: Date.now() - 60_000, to: Date.now() + 30 * dayMs });

export const company = (): Issued => makeAuthority('shop', life());

export const serialOf = (pem = ''): string => new X509Certificate(pem).serialNumber;

const encoded = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

/** A Secret with a certificate for the Services of these clusters. */
export function userCertificate(stage: Stage, secret: string, clusters: readonly string[]) {
  const { client, namespace } = stage;
  return {
    /** What a company's CA issues. */
    signedBy(authority: Issued): Record<string, string> {
      const services = clusters.map((name) => `${name}-primary.${namespace}.svc`);
      const request = { organisation: 'shop', names: ['db.example.com', ...services], usages: ['server'] } as const;
      const leaf = makeLeaf(request, life(), authority);
      return { 'ca.crt': authority.certificate, 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
    },
    async create(values: Record<string, string>): Promise<void> {
      const metadata = { name: secret, namespace };
      await client.create({ apiVersion: 'v1', kind: 'Secret', metadata, data: encoded(values) } as KubeObject);
    },
    async bring(values: Record<string, string>): Promise<void> {
      await client.mergePatch({ resource: secrets, namespace, name: secret }, { data: encoded(values) });
    },
  };
}

export async function secretText({ client, namespace }: Stage, name: string, key: string): Promise<string> {
  const { data } = await client.get({ resource: secrets, namespace, name });
  return Buffer.from((data as Readonly<Record<string, string>>)[key] ?? '', 'base64').toString();
}

/** As an application does that checks the name, over `authority`. Its words where it is refused. */
export async function answer(
  stage: Stage,
  of: PostgresTestCluster,
  authority: string,
  service = 'primary',
): Promise<string> {
  const from = (await of.primary()).metadata.name;
  const host = `${of.name}-${service}.${stage.namespace}.svc`;
  const mode = service === 'primary' ? 'verify-full' : 'verify-ca';
  const target = `host=${host} user=app dbname=app sslmode=${mode} sslrootcert=/tmp/ca-$$.crt connect_timeout=5`;
  const password = await secretText(stage, `${of.name}-app`, 'password');
  const command = `cat > /tmp/ca-$$.crt <<'CA'\n${authority}\nCA\nPGPASSWORD='${password}' "$PGBIN"/psql -X -At "${target}" -c 'select 1' 2>&1 || true; rm /tmp/ca-$$.crt`;
  return of.shell(from, command);
}

/** The serial number that each member shows. */
export async function shown(of: PostgresTestCluster): Promise<readonly string[]> {
  const pods = await of.pods();
  return Promise.all(
    pods.map(async ({ metadata }) => {
      const ask =
        "import ssl, socket; s = socket.create_connection(('127.0.0.1', 5432), 5); s.sendall(bytes([0,0,0,8,4,210,22,47])); s.recv(1); c = ssl.create_default_context(); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE; print(ssl.DER_cert_to_PEM_cert(c.wrap_socket(s).getpeercert(True)))";
      return serialOf(await of.shell(metadata.name, `python3 -c "${ask}"`));
    }),
  );
}

export async function everybodyShows(of: PostgresTestCluster, serial: string, withinMs: number): Promise<void> {
  const wanted = (await of.pods()).map(() => serial);
  await until('every member shows it', async () => expect(await shown(of)).toEqual(wanted), {
    withinMs,
    everyMs: 1000,
  });
}

/** Status and reason of `CertificateHeldBack`. */
export async function heldBack(of: PostgresTestCluster): Promise<string | undefined> {
  const found = (await of.status()).conditions?.find(({ type }) => type === 'CertificateHeldBack');
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
}

export async function casForClients({ client, namespace }: Stage, name: string): Promise<readonly string[]> {
  const { data } = await client.get({ resource: configMaps, namespace, name: `${name}-server-ca` });
  return certificatesIn((data as Readonly<Record<string, string>>)['ca.crt'] ?? '');
}
