/**
 * Certificates that nobody brings: an etcd whose certificates the operator makes and renews while clients write, and one
 * that has them from cert-manager. cert-manager itself does not run here: what it writes is written by a stand-in.
 */
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { KubeObject, ObjectRef } from '../../../src/api/object.ts';
import { certificates, secrets } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { type Issued, makeAuthority, makeLeaf } from '../../../src/certificates/certificate.ts';
import type { Values } from '../../../src/certificates/facts.ts';
import { type Issue, issued } from '../../../src/certificates/issue.ts';
import type { TlsMaterial } from '../../../src/engine/engine-context.ts';
import { type EtcdSpecInput, etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import { managedBy, managedByLabel } from '../../../src/resources/metadata.ts';
import { etcdClient } from '../../support/etcd-client.ts';
import { keepEtcdEvidence } from '../../support/etcd-evidence.ts';
import { underEtcdWriters } from '../../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { replacedPods } from '../../support/replaced-pods.ts';
import { customResourceDefinitions } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const dayMs = 86_400_000;
const own: EtcdSpecInput = { tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } } };
const issuerRef = { name: 'stand-in' };
const asked: EtcdSpecInput = { tls: { client: { certManager: { issuerRef } }, peer: { certManager: { issuerRef } } } };
const crdName = 'certificates.cert-manager.io';

let stage: Stage;
let operator: OperatorProcess;
let cluster: EtcdTestCluster;
let shown: TlsMaterial | undefined;
let firstCa: Issued;

/** Whoever has nothing to show yet is turned away. */
const ask = etcdClient({ tls: () => shown ?? { ca: '' } });

beforeAll(async () => {
  stage = await openStage('etcd-certificates');
  await stage.client.create(standInDefinition);
  await until('certificates are served', () => stage.client.list(certificates, { namespace: stage.namespace }));
  operator = await stage.startOperator();
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(async () => {
  const ref = { resource: customResourceDefinitions, name: crdName };
  const { uid = '' } = (await stage.client.get(ref)).metadata;
  await stage.client.remove({ ...ref, uid });
  await stage.close();
});

/** Of cert-manager's kind, the name and nothing else: what a Certificate may hold is checked by its own. */
const standInDefinition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: crdName },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced',
    names: { kind: 'Certificate', plural: 'certificates', singular: 'certificate' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

async function valuesOf(name: string): Promise<Values> {
  const { data } = await stage.client.get({ resource: secrets, namespace: stage.namespace, name });
  const encoded = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(encoded.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

const encodedValues = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

/** What clients of the cluster show from now on: the certificate in this Secret, as it is now. */
async function show(name: string): Promise<void> {
  const { 'ca.crt': ca = '', 'tls.crt': cert = '', 'tls.key': key = '' } = await valuesOf(name);
  shown = { ca, cert, key, servername: `${cluster.name}-client.${stage.namespace}.svc` };
}

/** The certificate becomes one that was made so many days ago; authority and names stay. */
async function age(name: string, side: 'client' | 'peer', days: number): Promise<void> {
  const [own, source] = await Promise.all([valuesOf(name), valuesOf(`e-${side}-ca`)]);
  const isUser = name.endsWith('-user');
  const names = side === 'peer' ? [`*.e.${stage.namespace}.svc`] : clientNames();
  const issue: Issue = {
    what: 'leaf',
    seen: '',
    authority: `e-${side}-ca`,
    hours: 2160,
    renew: true,
    organisation: 'e',
    names: isUser ? [] : names,
    usages: isUser ? ['client'] : ['server', 'client'],
  };
  const made = issued(issue, { own, source }, Date.now() - days * dayMs);
  await stage.client.mergePatch({ resource: secrets, namespace: stage.namespace, name }, { data: encodedValues(made) });
}

function clientNames(): string[] {
  const service = `e-client.${stage.namespace}`;
  return [`*.e.${stage.namespace}.svc`, `${service}.svc`, service, 'e-client', 'localhost'];
}

function shownBy(host: string, port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')));
  });
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const derOf = (pem = ''): Buffer => Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');

/** The kubelet brings a changed Secret into its pods within a minute or two. */
async function everyMemberShows(): Promise<void> {
  const wanted = [
    [2379, derOf((await valuesOf('e-client-tls'))['tls.crt'])],
    [2380, derOf((await valuesOf('e-peer-tls'))['tls.crt'])],
  ] as const;
  await until(
    'every member shows its new certificates',
    async () => {
      for (const host of await cluster.addresses()) {
        for (const [port, certificate] of wanted) expect((await shownBy(host, port)).equals(certificate)).toBe(true);
      }
    },
    { withinMs: 180_000, everyMs: 1000 },
  );
}

test('certificates of our own are renewed while clients write: nothing is lost, nobody restarts', async () => {
  const startedAt = performance.now();
  cluster = await stage.createEtcd('e', own, ask);
  const isReady = async (): Promise<void> => expect(await cluster.ready()).toBe('True AllMembersReady');
  await until('the cluster ready', isReady, { withinMs: 180_000 });
  const readyMs = performance.now() - startedAt;
  const leaves = [
    ['e-client-tls', 'client'],
    ['e-client-user', 'client'],
    ['e-peer-tls', 'peer'],
  ] as const;
  await show('e-client-user');
  let shownMs = 0;
  const { gapMs } = await underEtcdWriters('certificates of our own renewed', cluster, async () => {
    const replaced = await replacedPods(cluster.pods, async () => {
      for (const [name, side] of leaves) await age(name, side, 61);
      const old = await Promise.all(leaves.map(([name]) => valuesOf(name)));
      // Secrets are not watched: who has just started has read none yet.
      await operator.stop();
      operator = await stage.startOperator();
      await until('the operator renews them', async () => {
        const now = await Promise.all(leaves.map(([name]) => valuesOf(name)));
        expect(now.filter((values, i) => values['tls.crt'] === old[i]?.['tls.crt'])).toEqual([]);
      });
      const at = performance.now();
      await show('e-client-user');
      await everyMemberShows();
      shownMs = performance.now() - at;
      await cluster.whole(3, { withinMs: 180_000 });
    });
    expect(replaced).toEqual([]);
  });
  await recordResult({
    scenario: 'etcd: certificates of our own',
    measured: `Ready after ${seconds(readyMs)}; renewed ones shown everywhere ${seconds(shownMs)} after they were made`,
  });
  expect(gapMs).toBeLessThan(5_000);
});

test('an authority whose Secret is gone is followed by another one while clients write', async () => {
  const before = await valuesOf('e-peer-ca');
  await show('e-client-user');
  const ref = { resource: secrets, namespace: stage.namespace, name: 'e-peer-ca' };
  const { uid = '' } = (await stage.client.get(ref)).metadata;
  const { gapMs } = await underEtcdWriters('another authority of our own', cluster, async () => {
    await stage.client.remove({ ...ref, uid });
    await operator.stop();
    operator = await stage.startOperator();
    await until(
      'only the next authority is trusted',
      async () => {
        const [authority, leaf] = await Promise.all([valuesOf('e-peer-ca'), valuesOf('e-peer-tls')]);
        expect(authority['tls.crt']).not.toBe(before['tls.crt']);
        expect(leaf['ca.crt']).toBe(authority['tls.crt']);
      },
      { withinMs: 240_000, everyMs: 500 },
    );
    await cluster.whole(3, { withinMs: 180_000 });
  });
  expect(gapMs).toBeLessThan(5_000);
  await cluster.remove();
});

test('certificates from cert-manager are asked for and waited for', async () => {
  cluster = await stage.createEtcd('m', asked, ask);
  const names = ['m-client-tls', 'm-peer-tls'];
  await until('both are asked for', async () => {
    expect((await certificatesAsked()).map(({ metadata }) => metadata.name).sort()).toEqual(names);
    expect(await cluster.ready()).toBe('False AwaitingCertificates');
  });
  expect(await cluster.pods()).toEqual([]);
  firstCa = standInCa();
  for (const object of await certificatesAsked()) await issueAsStandIn(object, firstCa);
  await until('the members have a copy', () => show('m-client-tls'));
  await cluster.whole(3, { withinMs: 180_000 });
});

test('the Secret that an operator of before had cert-manager write is taken over, and nobody restarts', async () => {
  const { namespace } = stage;
  const [mounted, source] = ['m-peer-tls', 'm-peer-issued'].map((name) => ({ resource: secrets, namespace, name })) as [
    ObjectRef,
    ObjectRef,
  ];
  const asked = { resource: certificates, namespace, name: 'm-peer-tls' };
  const replaced = await replacedPods(cluster.pods, async () => {
    await operator.stop();
    const annotations = { 'cert-manager.io/certificate-name': 'm-peer-tls' };
    await stage.client.mergePatch(mounted, { metadata: { labels: null, annotations } });
    const { uid = '' } = (await stage.client.get(source)).metadata;
    await stage.client.remove({ ...source, uid });
    await stage.client.mergePatch(asked, { spec: { secretName: 'm-peer-tls' } });
    operator = await stage.startOperator();
    const object = await until('cert-manager is to write another Secret', async () => {
      const found = await stage.client.get(asked);
      expect(found.spec).toMatchObject({ secretName: 'm-peer-issued' });
      return found;
    });
    expect(await cluster.ready()).toBe('True AllMembersReady');
    await issueAsStandIn(object, firstCa);
    await until("the Secret is the operator's, with the certificate of now", async () => {
      const { labels, annotations: left = {} } = (await stage.client.get(mounted)).metadata;
      expect([labels?.[managedByLabel], Object.keys(left)]).toEqual([managedBy, []]);
      expect((await valuesOf('m-peer-tls'))['tls.crt']).toBe((await valuesOf('m-peer-issued'))['tls.crt']);
    });
    await cluster.whole(3, { withinMs: 180_000 });
  });
  expect(replaced).toEqual([]);
});

test('the issuer of peers goes over to another CA, without asking anybody, while clients write', async () => {
  const before = await valuesOf('m-peer-tls');
  const { gapMs } = await underEtcdWriters('another CA of an issuer among peers', cluster, async () => {
    const next = standInCa();
    for (const object of await certificatesAsked())
      if (object.metadata.name === 'm-peer-tls') await issueAsStandIn(object, next);
    await until(
      'only the next CA is trusted',
      async () => expect((await valuesOf('m-peer-tls'))['ca.crt']).toBe(next.certificate),
      { withinMs: 400_000, everyMs: 500 },
    );
    await cluster.whole(3, { withinMs: 180_000 });
  });
  expect((await valuesOf('m-peer-tls'))['tls.crt']).not.toBe(before['tls.crt']);
  expect(gapMs).toBeLessThan(5_000);
});

test('the issuer of clients goes over to another CA: both are trusted, and the former is shown as long as it can be', async () => {
  const before = await valuesOf('m-client-tls');
  const next = standInCa();
  // With a certificate of the CA before, and trusting that one alone.
  const { gapMs } = await underEtcdWriters('another CA of an issuer among clients', cluster, async () => {
    for (const object of await certificatesAsked())
      if (object.metadata.name === 'm-client-tls') await issueAsStandIn(object, next);
    await until(
      'both CAs are trusted, by everybody',
      async () => {
        expect((await valuesOf('m-client-tls'))['ca.crt']).toBe(`${before['ca.crt']}${next.certificate}`);
        expect(await cluster.ready()).toBe('True AllMembersReady');
        expect(await heldBack()).toMatch(/^NotTrustedYet: the certificate in Secret m-client-issued is of another CA/);
      },
      { withinMs: 240_000, everyMs: 500 },
    );
    await cluster.whole(3, { withinMs: 180_000 });
  });
  expect((await valuesOf('m-client-tls'))['tls.crt']).toBe(before['tls.crt']);
  expect(gapMs).toBeLessThan(5_000);
  const fresh = makeLeaf({ organisation: 'app', names: [], usages: ['client'] }, lifeFromNow(1), next);
  shown = { ...(shown as TlsMaterial), cert: fresh.certificate, key: fresh.key };
  for (const host of await cluster.addresses()) await ask(host, 'maintenance/status');
});

async function heldBack(): Promise<string> {
  const ref = { resource: etcdKind.resource, namespace: stage.namespace, name: 'm' };
  const { status } = (await stage.client.get(ref)) as { readonly status?: ClusterStatus };
  const { reason, message } = status?.conditions?.find(({ type }) => type === 'CertificateHeldBack') ?? {};
  return `${reason}: ${message}`;
}

async function certificatesAsked(): Promise<readonly KubeObject[]> {
  return (await stage.client.list(certificates, { namespace: stage.namespace })).items;
}

const lifeFromNow = (days: number): { readonly from: number; readonly to: number } => ({
  from: Date.now() - 60_000,
  to: Date.now() + days * dayMs,
});

const standInCa = (): Issued => makeAuthority('stand-in', lifeFromNow(30));

/** Each lives an hour longer: certificates tell time in seconds, and two that end in the same one would be taken for one. */
let issuedAsStandIn = 0;

/** In place of cert-manager: the Secret that the Certificate names, and what its status says of it. */
async function issueAsStandIn({ metadata, spec }: KubeObject, ca: Issued): Promise<void> {
  const { secretName, dnsNames } = spec as { readonly secretName: string; readonly dnsNames: readonly string[] };
  const request = { organisation: metadata.name, names: dnsNames, usages: ['server', 'client'] } as const;
  const leaf = makeLeaf(request, lifeFromNow(1 + issuedAsStandIn++ / 24), ca);
  const data = encodedValues({ 'ca.crt': ca.certificate, 'tls.crt': leaf.certificate, 'tls.key': leaf.key });
  const secret = { resource: secrets, namespace: stage.namespace, name: secretName };
  const isThere = await stage.client.get(secret).then(
    () => true,
    () => false,
  );
  if (isThere) await stage.client.mergePatch(secret, { data });
  else {
    await stage.client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretName, namespace: stage.namespace },
      type: 'kubernetes.io/tls',
      data,
    });
  }
  const ref = { resource: certificates, namespace: stage.namespace, name: metadata.name };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Ready', message: 'by a stand-in' }];
  const notAfter = new Date(new X509Certificate(leaf.certificate).validTo).toISOString();
  await stage.client.mergePatch(ref, { status: { conditions, notAfter } }, { subresource: 'status' });
}
