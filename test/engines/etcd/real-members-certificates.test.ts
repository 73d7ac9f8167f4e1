/**
 * Real members with certificates that the operator makes: formed, renewed under them, and led over to another authority
 * while the kubelets are as late as can be. Every story ends settled, with the data that was written.
 */
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { callEtcd } from '../../../src/engines/etcd/client/gateway.ts';
import { exchangeOver } from '../../../src/runtime/http-exchange.ts';
import { type Clock, systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { type EtcdHost, etcdHost } from '../../support/etcd-host.ts';
import { type EtcdOperator, etcdOperator } from '../../support/etcd-operator.ts';
import { asked, base64, roles } from '../../support/etcd-story.ts';

const dayMs = 86_400_000;
const tls = { client: { selfManaged: {} }, peer: { selfManaged: {} } };

interface Scene {
  readonly host: EtcdHost;
  /** The operator lives so many days ago from now on. */
  live(daysAgo: number): void;
}

async function scene(network: number, tell: (scene: Scene) => Promise<void>): Promise<void> {
  let backMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() - backMs };
  const host = etcdHost(network, clock);
  try {
    await tell({
      host,
      live: (daysAgo) => {
        backMs = daysAgo * dayMs;
      },
    });
  } finally {
    await host.close();
  }
}

/** As a client with the certificate that is made for clients. */
async function ask(host: EtcdHost, pod: string, path: string, body: object): Promise<Record<string, unknown>> {
  const {
    'ca.crt': ca = '',
    'tls.crt': cert = '',
    'tls.key': key = '',
  } = (host.object('Secret', 'db-client-user')?.data ?? {}) as Record<string, string>;
  const material = { ca, cert, key, servername: 'db-client.apps.svc' };
  return { ...(await callEtcd(host.io, host.address(pod), path, body, 5000, { tls: material })) };
}

async function holds(host: EtcdHost, pod: string, key: string, value: string): Promise<void> {
  const { kvs } = await ask(host, pod, 'kv/range', { key: base64(key) });
  expect((kvs as { value: string }[] | undefined)?.[0]?.value).toBe(base64(value));
}

const secret = (host: EtcdHost, name: string): Record<string, string> =>
  host.object('Secret', name)?.data as Record<string, string>;

/** Among peers, as whoever has this Secret. */
async function versionByPeerPort(host: EtcdHost, pod: string, shown: string): Promise<string> {
  const { 'tls.crt': cert = '', 'tls.key': key = '' } = secret(host, shown);
  const material = { ca: secret(host, 'db-peer-tls')['ca.crt'] ?? '', cert, key, servername: 'db-0-0.db.apps.svc' };
  const signal = AbortSignal.timeout(2000);
  const request = {
    host: host.address(pod),
    port: 2380,
    method: 'GET',
    path: '/version',
    tls: material,
    signal,
  } as const;
  return (await exchangeOver(dialTcp, request)).body;
}

/** Serial number of the certificate that a member shows on a port. */
function shownBy(host: EtcdHost, pod: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: host.address(pod), port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

const restarts = (operator: EtcdOperator): number =>
  asked(operator).filter((line) => line.startsWith('delete Pod')).length;

const issues = ({ history }: EtcdOperator): string[] =>
  history.flatMap((line) => /^issue Secret (\S+):/.exec(line)?.[1] ?? []);

describe
  .skipIf(etcdBinaries.size === 0)
  .concurrent('members with certificates of our own', { timeout: 600_000 }, () => {
    it.each([...etcdBinaries.keys()].map((version, i) => [version, 180 + i] as const))(
      '%s: form, grow, and let in nobody without one; peers take no certificate of clients',
      (version, network) =>
        scene(network, async ({ host }) => {
          const operator = etcdOperator(host, { version, replicas: 1, tls });
          await operator.settle();
          expect(restarts(operator)).toBe(0);
          await ask(host, 'db-0-0', 'kv/put', { key: base64('a'), value: base64('1') });
          await expect(
            callEtcd(host.io, host.address('db-0-0'), 'kv/range', { key: base64('a') }, 5000),
          ).rejects.toThrow();
          operator.change({ replicas: 3, auth: { enabled: true } });
          await operator.settle();
          expect(Object.values(roles(operator)).sort()).toEqual(['leader', 'voter', 'voter']);
          operator.change({ auth: { enabled: false } });
          await operator.settle();
          await holds(host, 'db-2-0', 'a', '1');
          await expect(versionByPeerPort(host, 'db-0-0', 'db-peer-tls')).resolves.toContain('etcdserver');
          await expect(versionByPeerPort(host, 'db-0-0', 'db-client-user')).rejects.toThrow();
          await expect(versionByPeerPort(host, 'db-0-0', 'db-client-tls')).rejects.toThrow();
          expect(operator.history.join('\n')).not.toMatch(/BEGIN|PRIVATE/);
        }),
    );

    it.each([
      ['before their end', 0, 190],
      ['by a clock that is half a day ahead', -0.5, 194],
    ] as const)('are renewed %s, and nobody restarts', (_, daysAgo, network) =>
      scene(network, async ({ host, live }) => {
        live(70);
        const operator = etcdOperator(host, { tls });
        await operator.settle();
        await ask(host, 'db-0-0', 'kv/put', { key: base64('a'), value: base64('1') });
        const before = await Promise.all([2379, 2380].map((port) => shownBy(host, 'db-1-0', port)));
        operator.clear();
        live(daysAgo);
        await operator.settle();
        expect(issues(operator)).toEqual(['db-client-tls', 'db-client-user', 'db-peer-tls']);
        await host.turn();
        const after = await Promise.all([2379, 2380].map((port) => shownBy(host, 'db-1-0', port)));
        expect(after.map((serial, i) => serial === before[i])).toEqual([false, false]);
        expect(asked(operator)).toEqual([]);
        await holds(host, 'db-1-0', 'a', '1');
        operator.change({ replicas: 5 });
        await operator.settle();
        await holds(host, 'db-4-0', 'a', '1');
      }),
    );

    it('go over to another authority, though each pod sees a changed Secret only when it starts', () =>
      scene(191, async ({ host }) => {
        const operator = etcdOperator(host, { tls });
        await operator.settle();
        await ask(host, 'db-0-0', 'kv/put', { key: base64('a'), value: base64('1') });
        const before = secret(host, 'db-peer-ca')['tls.crt'];
        host.forgetMounts(true);
        host.remove('Secret', 'db-peer-ca');
        operator.clear();
        await operator.settle();
        const after = secret(host, 'db-peer-ca');
        expect([after['tls.crt'] === before, after['previous.crt'], after['next.crt']]).toEqual([
          false,
          undefined,
          undefined,
        ]);
        expect(secret(host, 'db-peer-tls')['ca.crt']).toBe(after['tls.crt']);
        // Trusted, shown, alone: each member once for each step.
        expect(restarts(operator)).toBe(9);
        expect(Object.values(roles(operator)).sort()).toEqual(['leader', 'voter', 'voter']);
        await holds(host, 'db-1-0', 'a', '1');
      }));

    it('go over to another authority when the operator dies after each of its steps', () =>
      scene(192, async ({ host }) => {
        const operator = etcdOperator(host, { tls }, { diesEarly: true });
        await operator.settle();
        host.remove('Secret', 'db-peer-ca');
        operator.clear();
        await operator.settle();
        expect(restarts(operator)).toBe(9);
        expect(secret(host, 'db-peer-tls')['ca.crt']).toBe(secret(host, 'db-peer-ca')['tls.crt']);
      }));

    it('whose Secrets are all gone say so, go on, and begin anew once nobody runs', () =>
      scene(193, async ({ host }) => {
        const operator = etcdOperator(host, { tls });
        await operator.settle();
        await ask(host, 'db-0-0', 'kv/put', { key: base64('a'), value: base64('1') });
        host.remove('Secret', 'db-peer-ca');
        host.remove('Secret', 'db-peer-tls');
        await operator.until('CertificatesLost');
        await holds(host, 'db-1-0', 'a', '1');
        operator.change({ replicas: 0 });
        // Nobody may be stopped while it is not known whom they will trust, but by a person who asks for it.
        await operator.settle();
        operator.change({ replicas: 3 });
        await operator.settle();
        await holds(host, 'db-1-0', 'a', '1');
      }));
  });
