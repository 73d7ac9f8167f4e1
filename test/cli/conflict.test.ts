/** Two kinds of one name in one namespace: the second one gets nothing of the first, and the plan says why. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { issued } from '../../src/certificates/issue.ts';
import { plan } from '../../src/cli/plan.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';
import { apiServer } from './api-server.ts';
import { type World, world } from './world.ts';

function cluster(kind: 'RedisCluster' | 'EtcdCluster', name: string): KubeObject {
  const apiVersion = 'clusterwright.dev/v1alpha1';
  return { apiVersion, kind, metadata: { name, namespace: 'team' }, spec: {} };
}

const of = (...objects: readonly KubeObject[]) => ({ f: objects.map((o) => JSON.stringify(o)).join('\n---\n') });

/** A Service of the cluster, as the API server has it. */
function service(name: string, owner?: { readonly kind: string; readonly uid: string }): KubeObject {
  const { apiVersion } = cluster('RedisCluster', 'db');
  const ownerReferences = owner === undefined ? [] : [{ apiVersion, name: 'db', controller: true, ...owner }];
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'team', ownerReferences }, spec: {} };
}

async function planned(files: Readonly<Record<string, string>>, objects?: readonly KubeObject[]): Promise<World> {
  const cli = world({ files, ...(objects === undefined ? {} : { api: apiServer({ objects }) }) });
  await plan({ subject: 'f', offline: objects === undefined }, cli);
  return cli;
}

describe('plan of a cluster whose name is taken', () => {
  it.each<readonly [story: string, live: KubeObject, owner: string]>([
    ['by a cluster of another kind', service('db', { kind: 'RedisCluster', uid: 'uid-redis' }), 'RedisCluster db'],
    ['by an object of nobody', service('db'), 'somebody else'],
  ])('%s: names the object and its owner, and goes no further', async (_, live, owner) => {
    const { printed } = await planned(of(cluster('EtcdCluster', 'db')), [live]);
    expect(printed.out).toBe(`EtcdCluster team/db: 2 to create
  create
    Secret/db-root: password (32 random characters); an existing Secret is kept
    ConfigMap/db-members
  blocked by: Service db exists and belongs to ${owner} (NameConflict)
`);
  });

  it('by a volume that another cluster has left behind', async () => {
    const labels = { [managedByLabel]: managedBy, [nameLabel]: 'etcd', [instanceLabel]: 'db' };
    const metadata = { name: 'data-db-0-0', namespace: 'team', labels };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata };
    const { printed } = await planned(of(cluster('RedisCluster', 'db-0')), [claim]);
    expect(printed.out).not.toContain('StatefulSet');
    expect(printed.out).toContain(
      'blocked by: PersistentVolumeClaim data-db-0-0 exists and belongs to the etcd cluster db (NameConflict)\n',
    );
  });

  const secret = (name: string, labels = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'team', labels },
  });

  it('by a Secret that is ours alone, and not ours', async () => {
    const { printed } = await planned(of(cluster('RedisCluster', 'db')), [secret('db-internal')]);
    expect(printed.out).toContain('RedisCluster team/db: 1 to create\n  create\n    Secret/db-auth');
    expect(printed.out).toContain(
      'blocked by: Secret db-internal exists and belongs to somebody else (NameConflict)\n',
    );
  });

  it('by a Service for clients outside: all the rest is made', async () => {
    const redis = { ...cluster('RedisCluster', 'db'), spec: { access: { primary: { type: 'NodePort' } } } };
    const { printed } = await planned(of(redis), [service('db-primary-external')]);
    expect(printed.out).toContain('RedisCluster team/db: 11 to create\n');
    expect(printed.out).not.toContain('Service/db-primary-external');
    expect(printed.out).toMatch(/waits for: .*; Service db-primary-external exists and belongs to somebody else/);
  });

  it('not by a Secret of ours, nor by a password that somebody has chosen', async () => {
    const ours = secret('db-internal', { [managedByLabel]: managedBy });
    const { printed } = await planned(of(cluster('RedisCluster', 'db')), [ours, secret('db-auth')]);
    expect(printed.out).toContain('RedisCluster team/db: 11 to create\n');
  });

  it('by a Secret that certificates were to go into', async () => {
    const tls = { client: { selfManaged: {} } };
    const etcd = { ...cluster('EtcdCluster', 'db'), spec: { tls } };
    const { printed } = await planned(of(etcd), [secret('db-client-tls')]);
    expect(printed.out).toContain(
      'blocked by: Secret db-client-tls exists and belongs to somebody else (NameConflict)\n',
    );
  });

  it('by an authority of another cluster, whose name its own would have', async () => {
    const now = Date.now();
    const values = issued(
      { what: 'authority', name: 'db-peer-ca', hours: 100, seen: '' },
      { own: undefined, source: undefined },
      now,
    );
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)]));
    const labels = { [managedByLabel]: managedBy, [nameLabel]: 'etcd', [instanceLabel]: 'db' };
    const postgres = { ...cluster('EtcdCluster', 'db-peer'), kind: 'PostgresCluster' };
    const { printed } = await planned(of(postgres), [{ ...secret('db-peer-ca', labels), data }]);
    expect(printed.out).toContain(
      'blocked by: Secret db-peer-ca exists and belongs to the etcd cluster db (NameConflict)\n',
    );
  });

  it('is the same for two of one manifest, with a cluster and without', async () => {
    const files = of(cluster('RedisCluster', 'db'), cluster('EtcdCluster', 'db'));
    for (const { printed } of [await planned(files), await planned(files, [])]) {
      expect(printed.out).toMatch(/^RedisCluster team\/db: 11 to create\n/);
      expect(printed.out).toContain('blocked by: Service db exists and belongs to RedisCluster db (NameConflict)\n');
    }
  });

  it('leaves those of other names and other namespaces alone', async () => {
    const elsewhere = cluster('EtcdCluster', 'db');
    const files = of(cluster('RedisCluster', 'db'), cluster('EtcdCluster', 'db-etcd'), {
      ...elsewhere,
      metadata: { name: 'db', namespace: 'other' },
    });
    expect((await planned(files)).printed.out).not.toContain('NameConflict');
  });
});
