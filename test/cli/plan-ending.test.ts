/** `plan` of what still counts of a cluster: of one that is deleted, and of one whose spec is not valid. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import {
  instanceLabel,
  managedBy,
  managedByLabel,
  memberLabel,
  nameLabel,
  ownerReferences,
} from '../../src/resources/metadata.ts';
import { etcdCluster } from '../support/etcd-situation.ts';
import { issuedSecrets } from '../support/issued-secrets.ts';
import { apiServer } from './api-server.ts';
import { world } from './world.ts';

const dayMs = 86_400_000;
/** Its backups go there. */
const claim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'archive', namespace: 'apps' },
};

const leaving = {
  deletionTimestamp: '2030-01-01T00:00:00Z',
  finalizers: ['clusterwright.dev/delete-data'],
};

/** Two months old: it is time for others. */
function agedSecrets(cluster: Parameters<typeof issuedSecrets>[0]): readonly KubeObject[] {
  return Object.entries(issuedSecrets(cluster, Date.now() - 61 * dayMs)).map(([name, values]): KubeObject => {
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)]));
    const labels = { [managedByLabel]: managedBy, [instanceLabel]: cluster.metadata.name };
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'apps', labels }, data };
  });
}

/** A later version of the CRD has taken it, or an earlier one. */
function withInvalidSize<Object extends KubeObject>(cluster: Object): Object {
  return { ...cluster, spec: { ...(cluster.spec as object), replicas: 4 } };
}

async function planned(objects: readonly KubeObject[], ask: 'forward' | 'never' = 'forward') {
  const cli = world({ api: apiServer({ objects }) });
  const code = await plan({ subject: 'etcdcluster/db', namespace: 'apps', offline: false, ask }, cli);
  return { code, text: cli.printed.out };
}

const encrypted = { tls: { client: { selfManaged: {} } } } as const;

describe('plan of a cluster that is deleted and waits for its last backup', () => {
  it('shows the certificates that are renewed meanwhile', async () => {
    const target = { claim: { name: 'archive' } };
    const spec = { ...encrypted, deletionPolicy: 'Snapshot', backup: { target } } as const;
    const cluster = etcdCluster(spec, leaving, { initialized: true });
    const { text } = await planned([cluster, claim, ...agedSecrets(cluster)]);
    expect(text).toContain('Job/db-last-backup');
    expect(text).toContain('db-client-tls');
    expect(text).toContain('db-client-user');
  });
});

describe('plan of a cluster that is deleted', () => {
  const labels = { [managedByLabel]: managedBy, [nameLabel]: 'etcd', [instanceLabel]: 'db' };
  const child = (apiVersion: string, kind: string, name: string, more: object = {}): KubeObject => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'apps', uid: `uid-${name}`, labels, ...more },
  });
  const ofMember = { labels: { ...labels, [memberLabel]: 'db-0' } };
  const set = child('apps/v1', 'StatefulSet', 'db-0', { ...ofMember, ownerReferences: ownerReferences(etcdCluster()) });
  const data = [child('v1', 'PersistentVolumeClaim', 'data-db-0-0', ofMember), child('v1', 'Secret', 'db-root')];
  const forecast = 'the data is deleted: PersistentVolumeClaim data-db-0-0, Secret db-root';

  it('says which data goes once the processes have stopped', async () => {
    const cluster = etcdCluster({ deletionPolicy: 'Delete' }, leaving, { initialized: true });
    const { text } = await planned([cluster, set, ...data]);
    expect(text).toContain('  delete\n    StatefulSet/db-0: the cluster is deleted\n');
    expect(text).toContain(`  afterwards\n    once no process is left, ${forecast} (deletionPolicy is Delete)\n`);
  });

  it('says so while the last backup is waited for, too, and leaves the password without which nobody could use that', async () => {
    const target = { claim: { name: 'archive' } };
    const spec = { deletionPolicy: 'Snapshot', backup: { target }, tls: { peer: { selfManaged: {} } } } as const;
    const cluster = etcdCluster(spec, leaving, { initialized: true });
    const { text } = await planned([cluster, claim, set, ...data, child('v1', 'Secret', 'db-peer-ca')]);
    expect(text).toContain(
      '    once a last backup is verified and no process is left, the data is deleted: PersistentVolumeClaim data-db-0-0, Secret db-peer-ca (deletionPolicy is Snapshot)\n',
    );
  });

  it('says it once: what the plan itself deletes is not repeated, and what stays is not named', async () => {
    const ended = etcdCluster({ deletionPolicy: 'Delete' }, leaving, { initialized: true });
    expect((await planned([ended, ...data])).text).not.toContain('afterwards');
    const kept = etcdCluster({ deletionPolicy: 'Retain' }, leaving, { initialized: true });
    expect((await planned([kept, set, ...data])).text).not.toContain('afterwards');
  });
});

describe('plan of a cluster whose spec is not valid', () => {
  it('shows what is deleted where it is deleted', async () => {
    const cluster = etcdCluster({ deletionPolicy: 'Delete' }, leaving, { initialized: true });
    const { code, text } = await planned([withInvalidSize(cluster)]);
    expect(text).toContain('update\n    EtcdCluster/db\n      metadata.finalizers');
    expect(code).toBe(2);
  });

  it('shows the certificates that are renewed all the same, and what is wrong', async () => {
    const cluster = etcdCluster(encrypted, {}, { initialized: true });
    const { code, text } = await planned([withInvalidSize(cluster), ...agedSecrets(cluster)]);
    expect(text).toContain('issue\n    Secret/db-client-tls');
    expect(text).toMatch(/blocked by: spec.replicas: .* \(InvalidSpec\)/);
    expect(code).toBe(2);
  });

  it.each([
    ['nothing is left to do', {}, 'forward'],
    ['nothing is changed, as it is paused', { paused: true }, 'forward'],
    ['Secrets are not to be read', {}, 'never'],
  ] as const)('is an error where %s', async (_, also, ask) => {
    const cluster = etcdCluster({ ...encrypted, ...also }, {}, { initialized: true });
    const secrets = 'paused' in also || ask === 'never' ? agedSecrets(cluster) : [];
    const plain = etcdCluster(also, {}, { initialized: true });
    const invalid = withInvalidSize(secrets.length > 0 ? cluster : plain);
    await expect(planned([invalid, ...secrets], ask)).rejects.toThrow(/replicas/);
  });
});
