/**
 * Encrypted and closed: an etcd whose members, clients and operator show certificates, and which asks who is asking. The
 * password and the authority change under writers: nothing that was acknowledged is lost, all members hold the same at the
 * end; nobody restarts for the one, one member at a time for the other.
 */
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { secrets } from '../../../src/api/resource.ts';
import type { TlsMaterial } from '../../../src/engine/engine-context.ts';
import { authoritiesAnnotation } from '../../../src/engines/etcd/names.ts';
import { type Authority, type Certificates, openAuthority } from '../../support/etcd-certificates.ts';
import { askEtcd, etcdClient } from '../../support/etcd-client.ts';
import { keepEtcdEvidence } from '../../support/etcd-evidence.ts';
import { underEtcdWriters } from '../../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { replacedPods } from '../../support/replaced-pods.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const servername = 'e-client.e2e-etcd-secrets.svc';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

let stage: Stage;
let operator: OperatorProcess;
let cluster: EtcdTestCluster;
let [first, second]: readonly Authority[] = [];
let shown: Certificates;

beforeAll(async () => {
  stage = await openStage('etcd-secrets');
  first = openAuthority();
  second = openAuthority();
  shown = issuedBy(first);
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'members', namespace: stage.namespace },
    data: encoded(shown),
  });
  operator = await stage.startOperator();
  const secretRef = { name: 'members' };
  const tls = { client: { secretRef }, peer: { secretRef } };
  const ask = etcdClient({ tls: material, password: passwordNow });
  cluster = await stage.createEtcd('e', { tls, auth: { enabled: true } }, ask);
  await cluster.whole(3, { withinMs: 180_000 });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(async () => {
  first?.close();
  second?.close();
  await stage.close();
});

function issuedBy(authority: Authority | undefined): Certificates {
  if (authority === undefined) throw new Error('there is no authority');
  return authority.issue([], { name: 'e', namespace: stage.namespace });
}

function encoded(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
}

const material = (): TlsMaterial => ({
  ca: shown['ca.crt'],
  cert: shown['tls.crt'],
  key: shown['tls.key'],
  servername,
});

async function addressOfOne(): Promise<string> {
  const [host = ''] = await cluster.addresses();
  return host;
}

async function login(password: string): Promise<string> {
  const credentials = { name: 'root', password };
  const answer = await askEtcd(await addressOfOne(), 'auth/authenticate', credentials, 2000, { tls: material() });
  return String(answer.token);
}

async function passwordNow(): Promise<string> {
  const { data } = await stage.client.get({ resource: secrets, namespace: stage.namespace, name: 'e-root' });
  return Buffer.from((data as Record<string, string>).password ?? '', 'base64').toString();
}

async function change(name: string, values: Readonly<Record<string, string>>): Promise<void> {
  const ref = { resource: secrets, namespace: stage.namespace, name };
  await stage.client.mergePatch(ref, { data: encoded(values) });
}

/** Secrets are not watched: who has just started has read none yet. */
async function anotherOperator(): Promise<void> {
  await operator.stop();
  operator = await stage.startOperator();
}

test('nobody gets in without a certificate and a password', async () => {
  const host = await addressOfOne();
  const range = { key: base64('key') };
  await expect(askEtcd(host, 'kv/range', range, 2000, { tls: material() })).rejects.toThrow('permission denied');
  await expect(cluster.ask(host, 'kv/range', range)).resolves.toHaveProperty('header');
  const { key: _key, cert: _cert, ...stranger } = material();
  const asStranger = askEtcd(host, 'kv/range', range, 2000, { tls: stranger as TlsMaterial });
  await expect(asStranger).rejects.toThrow(/certificate required|ECONNRESET|closed|EPIPE/i);
});

test('root gets another password, and nobody restarts', async () => {
  const old = await passwordNow();
  const { gapMs } = await underEtcdWriters('password of root changed', cluster, async () => {
    const replaced = await replacedPods(cluster.pods, async () => {
      await change('e-root', { password: 'another-password', 'password-previous': old });
      await anotherOperator();
      // Each attempt costs a member as much as hundreds of writes.
      await until('the new password is taken', () => login('another-password'), { everyMs: 1000 });
      await cluster.whole(3, { withinMs: 120_000 });
    });
    expect(replaced).toEqual([]);
  });
  await expect(login(old)).rejects.toThrow('invalid user ID or password');
  expect(gapMs).toBeLessThan(5_000);
});

test('the members go over to another authority without losing their majority', async () => {
  const [old, fresh] = [issuedBy(first), issuedBy(second)];
  const both = old['ca.crt'] + fresh['ca.crt'];
  const steps = [
    { next: { ...old, 'ca.crt': both }, restarts: true },
    { next: { ...fresh, 'ca.crt': both }, restarts: false },
    { next: fresh, restarts: true },
  ];
  const { gapMs } = await underEtcdWriters('another authority', cluster, async () => {
    for (const { next, restarts } of steps) {
      const before = await trusted();
      const replaced = await replacedPods(cluster.pods, async () => {
        await change('members', next);
        shown = { ...next, 'ca.crt': both };
        await anotherOperator();
        if (restarts) {
          await until(
            'every member trusts it',
            async () => {
              const now = await trusted();
              expect([now.size, [...before].some((one) => now.has(one))]).toEqual([1, false]);
            },
            { withinMs: 120_000 },
          );
        } else await everyMemberShows(next['tls.crt']);
        await cluster.whole(3, { withinMs: 180_000 });
      });
      expect(replaced.length).toBe(restarts ? 3 : 0);
    }
  });
  expect(gapMs).toBeLessThan(5_000);
});

/** The sets of authorities that the running members were started with. */
async function trusted(): Promise<ReadonlySet<string | undefined>> {
  const pods = await cluster.pods();
  return new Set(pods.map(({ metadata }) => metadata.annotations?.[authoritiesAnnotation]));
}

/** The kubelet brings a changed Secret into its pods within a minute or two. */
async function everyMemberShows(certificate: string): Promise<void> {
  const wanted = Buffer.from(certificate.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  await until(
    'every member shows its new certificate',
    async () => {
      for (const host of await cluster.addresses()) expect((await certificateOf(host)).equals(wanted)).toBe(true);
    },
    { withinMs: 180_000, everyMs: 1000 },
  );
}

function certificateOf(host: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 2379, servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')));
  });
}
