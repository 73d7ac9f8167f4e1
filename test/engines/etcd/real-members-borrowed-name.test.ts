/**
 * A shared issuer for peers is safe as long as no one else gets a certificate for `*.NAME.NAMESPACE.svc` or a name in it
 * (docs/engines/etcd/guide.md). The operator itself never asks for one on behalf of a cluster in another namespace.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { validateCluster } from '../../../src/api/validate.ts';
import { makeAuthority, makeLeaf } from '../../../src/certificates/certificate.ts';
import { etcd } from '../../../src/engines/etcd/index.ts';
import { type EtcdSpec, etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import { tlsSettings } from '../../../src/engines/etcd/resources/settings.ts';
import { exchangeOver } from '../../../src/runtime/http-exchange.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const platform = { certManager: { issuerRef: { name: 'platform', kind: 'ClusterIssuer' } } };
const dayMs = 86_400_000;

function clusterOf(name: string, namespace: string, spec: object) {
  const verdict = validateCluster(etcdKind, {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace },
    spec,
  });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict));
  return verdict.cluster as Cluster<EtcdSpec>;
}

/** Of the Certificate that the operator creates for a cluster with these names outside. */
function namesAskedFor(access?: object): string[] {
  const cluster = clusterOf('evil', 'other', {
    tls: { client: platform },
    ...(access === undefined ? {} : { access }),
  });
  const certificate = etcd.resources(cluster).find(({ object }) => object.kind === 'Certificate')?.object;
  const { issuerRef, dnsNames } = (certificate?.spec ?? {}) as {
    readonly issuerRef: object;
    readonly dnsNames: string[];
  };
  expect(issuerRef).toMatchObject({ kind: 'ClusterIssuer', name: 'platform' });
  return dnsNames;
}
const outside = { names: ['vault.corp.example.com'] };

it.each(['db-0-0.db.apps.svc', '*.db.apps.svc', 'db-client.apps.svc.cluster.local'])(
  'the operator does not ask an issuer for the name %s',
  (name) => expect(() => namesAskedFor({ names: [name] })).toThrow('access.names'),
);

it.skipIf(etcdBinaries.size === 0).each([...etcdBinaries])(
  '%s: a member does not admit as a peer who has the certificate of a cluster in another namespace',
  async (version, program) => {
    const directory = await mkdtemp(join(tmpdir(), 'etcd-borrowed-'));
    const ca = makeAuthority('platform', { from: Date.now() - dayMs, to: Date.now() + 3000 * dayMs });
    const lives = { from: Date.now() - 60_000, to: Date.now() + 90 * dayMs };
    const leaf = (names: readonly string[]) =>
      makeLeaf({ organisation: 'x', names: [...names], usages: ['server', 'client'] }, lives, ca);

    const victim = clusterOf('db', 'apps', { version, tls: { peer: platform } });
    const settings = tlsSettings(victim.spec, 'db-0-0.db.apps.svc');
    expect(settings.ETCD_PEER_CERT_ALLOWED_HOSTNAME).toBe('db-0-0.db.apps.svc');
    const own = leaf(['*.db.apps.svc']);
    await writeFile(join(directory, 'ca.crt'), ca.certificate);
    await writeFile(join(directory, 'tls.crt'), own.certificate);
    await writeFile(join(directory, 'tls.key'), own.key);
    const mounted = Object.entries(settings).map(([name, value]) => [
      name,
      value.replace(/^\/etc\/etcd\/tls\/peer/, directory),
    ]);
    const [port, clients] = [await freePort(), await freePort()];
    const url = `https://127.0.0.1:${port}`;
    const child = spawn(
      program,
      [
        '--name=a',
        `--data-dir=${join(directory, 'data')}`,
        `--listen-peer-urls=${url}`,
        `--initial-advertise-peer-urls=${url}`,
      ]
        .concat([`--initial-cluster=a=${url}`, `--listen-client-urls=http://127.0.0.1:${clients}`])
        .concat([`--advertise-client-urls=http://127.0.0.1:${clients}`]),
      { env: Object.fromEntries(mounted), stdio: 'ignore' },
    );
    const members = async (names: readonly string[]): Promise<string> => {
      const { certificate: cert, key } = leaf(names);
      const tls = { ca: ca.certificate, cert, key, servername: 'db-0-0.db.apps.svc' };
      const signal = AbortSignal.timeout(3000);
      const request = { host: '127.0.0.1', port, method: 'GET', path: '/members', tls, signal } as const;
      return (await exchangeOver(dialTcp, request)).body;
    };
    try {
      await until('the member answers a peer', async () =>
        expect(await members(['*.db.apps.svc'])).toContain('peerURLs'),
      );
      await expect(members(namesAskedFor())).rejects.toThrow('bad certificate');
      await expect(members(namesAskedFor(outside))).rejects.toThrow('bad certificate');
    } finally {
      child.kill('SIGKILL');
      await rm(directory, { recursive: true });
    }
  },
  60_000,
);
