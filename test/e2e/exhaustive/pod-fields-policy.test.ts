/**
 * On a real API server: a user who may change databases, but not create pods, cannot change labels, annotations or the ServiceAccount of pods,
 * nor, without the permission to create Certificates, the names that an issuer signs.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { podFieldsPolicy } from '../../../src/constructs/pod-fields-policy.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { manifestsOf } from '../../constructs/manifests.ts';
import { handlers } from '../../support/handlers.ts';
import { connectKubernetes, type Kubernetes, removeByName } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import { etcdClusters, redisClusters } from '../../support/resources.ts';
import { until } from '../../support/until.ts';

const user = 'tenant';
const policies = manifestsOf((chart) => podFieldsPolicy(chart, 'e2e', handlers));
const message = 'you need the permission to create pods';

const namespace = 'e2e-pod-fields';
let administrator: Kubernetes;
let tenant: Kubernetes;
let directory: string;

/** Gives the tenant a right in the namespace. */
async function grant(name: string, rule: object): Promise<void> {
  const api = 'rbac.authorization.k8s.io';
  const metadata = { name, namespace };
  const subjects = [{ kind: 'User', name: user, apiGroup: api }];
  const roleRef = { apiGroup: api, kind: 'Role', name };
  await administrator.client.create({ apiVersion: `${api}/v1`, kind: 'Role', metadata, rules: [rule] });
  await administrator.client.create({ apiVersion: `${api}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects });
}

const cluster = (name: string, spec: RedisSpecInput): KubeObject => ({
  apiVersion: apiVersionOf(redisClusters),
  kind: redisClusters.kind,
  metadata: { name, namespace },
  spec,
});
const change = (name: string, spec: object) =>
  tenant.client.mergePatch({ resource: redisClusters, namespace, name }, { spec });

beforeAll(async () => {
  administrator = await connectKubernetes(inject('kubeconfig'));
  await removeNamespace(administrator.client, namespace);
  await until('the namespace made', () => administrator.client.create(restricted(namespace)));
  const config = parse(await readFile(inject('kubeconfig'), 'utf8')) as { users: { user: object }[] };
  directory = await mkdtemp(join(tmpdir(), 'clusterwright-e2e-'));
  const file = join(directory, 'tenant');
  const users = config.users.map((entry) => ({ ...entry, user: { ...entry.user, as: user } }));
  await writeFile(file, stringify({ ...config, users }), { mode: 0o600 });
  tenant = await connectKubernetes(file);
  await grant('databases', {
    apiGroups: [redisClusters.group],
    resources: ['redisclusters', 'etcdclusters'],
    verbs: ['get', 'create', 'patch'],
  });
  for (const policy of policies) await administrator.client.apply(policy, { force: true });
  await until('the policy in force', async () => {
    const refused = tenant.client.create(cluster('probe', { paused: true, pods: { labels: { a: 'b' } } }), {
      dryRun: true,
    });
    await expect(refused).rejects.toThrow(message);
  });
});
afterAll(async () => {
  for (const policy of policies)
    await removeByName(administrator.client, await administrator.client.apply(policy, { force: true }));
  await tenant.close();
  await removeNamespace(administrator.client, namespace);
  await administrator.close();
  await rm(directory, { recursive: true });
});

test.each<RedisSpecInput['pods'] & object>([
  { labels: { app: 'frontend' } },
  { annotations: { 'sidecar.example.com/inject': 'true' } },
  { serviceAccountName: 'admin' },
])('%j is refused to a tenant, and the rest of the fields is not', async (pods) => {
  await expect(tenant.client.create(cluster('a', { paused: true, pods }))).rejects.toThrow(message);
});

test('an annotation of a Service is refused to a tenant, and the Service is not', async () => {
  const annotations = { 'external-dns.alpha.kubernetes.io/hostname': 'bank.example.com' };
  const access = (fields: object): RedisSpecInput => ({
    paused: true,
    access: { primary: { type: 'ClusterIP', ...fields } },
  });
  const refused = tenant.client.create(cluster('s', access({ annotations })));
  await expect(refused).rejects.toThrow('you need the permission to create services');
  await tenant.client.create(cluster('s', access({})));
});

test('what somebody else has set stays, and the tenant changes the rest', async () => {
  await tenant.client.create(cluster('t', { paused: true, pods: { imagePullSecrets: [{ name: 'registry' }] } }));
  const ref = { resource: redisClusters, namespace, name: 't' };
  await administrator.client.mergePatch(ref, { spec: { pods: { labels: { team: 'shop' } } } });
  await change('t', { replicas: 5, pods: { imagePullSecrets: [{ name: 'other' }] } });
  await expect(change('t', { pods: { labels: { team: 'billing' } } })).rejects.toThrow(message);
  // A policy of the platform may select the pods by the label.
  await expect(change('t', { pods: { labels: null } })).rejects.toThrow(message);
  await expect(change('t', { pods: { labels: { team: null } } })).rejects.toThrow(message);
  await expect(change('t', { pods: null })).rejects.toThrow(message);
});

test('a name in a certificate of an issuer is refused to a tenant who may not create Certificates', async () => {
  const etcd = (names: string[]): KubeObject => {
    const certManager = { issuerRef: { name: 'platform', kind: 'ClusterIssuer' } };
    const spec: EtcdSpecInput = { paused: true, tls: { client: { certManager } }, access: { names } };
    return {
      apiVersion: apiVersionOf(etcdClusters),
      kind: etcdClusters.kind,
      metadata: { name: 'e', namespace },
      spec,
    };
  };
  const needed = 'you need the permission to create certificates of cert-manager.io';
  const ref = { resource: etcdClusters, namespace, name: 'e' };
  await expect(tenant.client.create(etcd(['vault.example.com']))).rejects.toThrow(needed);
  await tenant.client.create(etcd([]));
  const change = (names: string[]) => tenant.client.mergePatch(ref, { spec: { access: { names } } });
  await expect(change(['vault.example.com'])).rejects.toThrow(needed);
  await administrator.client.mergePatch(ref, { spec: { access: { names: ['etcd.example.com'] } } });
  await expect(change([])).rejects.toThrow(needed);
  await grant('certificates', { apiGroups: ['cert-manager.io'], resources: ['certificates'], verbs: ['create'] });
  await until('the right in force', () => change(['vault.example.com']));
  await expect(change(['db-0-0.db.apps.svc'])).rejects.toThrow('access.names must not');
});

test('a tenant who may create pods may set and remove them', async () => {
  await grant('pods', { apiGroups: [''], resources: ['pods'], verbs: ['create'] });
  await until('the right in force', () => change('t', { pods: { labels: { team: 'billing' } } }));
  await change('t', { pods: { labels: null } });
});
