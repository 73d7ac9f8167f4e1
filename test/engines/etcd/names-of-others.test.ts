/**
 * SECURITY.md: who may create an `EtcdCluster` can have cert-manager sign certificates for the names of its own Services alone. So nothing is asked
 * of cert-manager for a name whose Service belongs to somebody else, such as that of another program in the namespace.
 */
import { afterEach, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { EtcdSpec } from '../../../src/engines/etcd/kind/schema.ts';
import { observeCertificates } from '../../../src/engines/etcd/observe/certificates.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { createSecretReader, engineIO } from '../../../src/runtime/engine-context.ts';
import { createExecutor } from '../../../src/runtime/executor.ts';
import { blankAccounts, blankClaims } from '../../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../../support/controller-parts.ts';
import { etcdCluster } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';
import { testEngine } from '../../support/test-engine.ts';

let parts: ControllerParts;
afterEach(() => parts.stop());

function named(name: string): Cluster<EtcdSpec> {
  const cluster = etcdCluster({
    tls: { client: { certManager: { issuerRef: { name: 'platform', kind: 'ClusterIssuer' } } } },
  });
  return { ...cluster, metadata: { ...cluster.metadata, name, uid: 'uid-of-the-tenant' } };
}

it.each(['vault', 'vault-client'])('beside the Service %s of somebody else', async (service) => {
  const cluster = named('vault');
  const { namespace } = cluster.metadata;
  const theirs: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service, namespace },
    spec: { selector: { app: 'vault' }, ports: [{ port: 8200 }] },
  };
  parts = await controllerParts([theirs], [testEngine()]);
  const { client, cache, clock, api } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const { signal } = new AbortController();
  const dial = (): Promise<never> => Promise.reject(new Error('nobody is there'));
  const io = engineIO({ namespace, secrets, claims: blankClaims, accounts: blankAccounts, dial, clock, signal });
  const observed = { members: [], at: clock.now(), ...(await observeCertificates(cluster, io)) };
  const { steps } = planEtcd(situationOf(cluster, noChildren, observed), takesEtcdBackup);
  const run = createExecutor({ client, cache }).run(steps, () => Promise.reject(new Error('no action')), signal);
  await expect(run).rejects.toThrow(`Service ${service} exists and belongs to somebody else`);
  const asked = api.list('Certificate').map(({ spec }) => (spec as { readonly dnsNames: readonly string[] }).dnsNames);
  expect(asked).toEqual([]);
});
