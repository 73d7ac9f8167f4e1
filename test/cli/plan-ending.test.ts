/** `plan` of a cluster that is deleted and waits for its last backup. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import { etcdCluster } from '../support/etcd-situation.ts';
import { issuedSecrets } from '../support/issued-secrets.ts';
import { apiServer } from './api-server.ts';
import { world } from './world.ts';

const dayMs = 86_400_000;
const claim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'archive', namespace: 'apps' },
};

it('shows the certificates that are renewed meanwhile', async () => {
  const cluster = etcdCluster(
    {
      tls: { client: { selfManaged: {} } },
      deletionPolicy: 'Snapshot',
      backup: { target: { claim: { name: 'archive' } } },
    },
    {
      deletionTimestamp: '2030-01-01T00:00:00Z',
      finalizers: ['clusterwright.dev/delete-data'],
    },
    { initialized: true },
  );
  const secrets = Object.entries(issuedSecrets(cluster, Date.now() - 61 * dayMs)).map(([name, values]): KubeObject => {
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)]));
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'apps' }, data };
  });
  const around = world({ api: apiServer({ objects: [cluster, claim, ...secrets] }) });
  await plan({ subject: 'etcdcluster/db', namespace: 'apps', offline: false }, around);
  expect(around.printed.out).toContain('Job/db-last-backup');
  expect(around.printed.out).toContain('db-client-tls');
  expect(around.printed.out).toContain('db-client-user');
});
