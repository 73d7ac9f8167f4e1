/** What a restored database is asked, and what counts as the same. */

import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import type { EtcdSource } from '../../src/engines/etcd/backup/schemas.ts';
import { sessionOf } from '../../src/engines/etcd/client/session.ts';
import type { EtcdSpec, EtcdSpecInput } from '../../src/engines/etcd/kind/schema.ts';
import type { PostgresSource } from '../../src/engines/postgres/backup/schemas.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { engineOf, resourceOf, timeOnly } from '../support/backup-story.ts';

function partOf(kind: string) {
  const engine = engineOf(kind);
  if (engine.backup === undefined) throw new Error(`${kind} is no database`);
  return { engine, part: engine.backup };
}

describe.each([
  ['RedisCluster', { replicas: 5, image: 'a/redis:8.0', storage: { size: '3Gi' }, config: { databases: 32 } }],
  ['RedisCluster', { storage: { ephemeral: true }, config: { 'min-replicas-to-write': 2 } }],
  ['EtcdCluster', { replicas: 5, image: 'a/etcd:v3.6.16', storage: { size: '3Gi' }, auth: { enabled: true } }],
  ['EtcdCluster', { tls: { client: { secretRef: { name: 'a' }, requireCertificate: false } } }],
  ['PostgresCluster', { version: '16', image: 'a/postgres:16', storage: { size: '3Gi' }, initial: { owner: 'a' } }],
])('a drill of a %s', (kind, spec) => {
  it('is one member of the same version and size, and valid', () => {
    const { engine, part } = partOf(kind);
    const cluster = resourceOf(kind, 'db', spec);
    const { apiVersion } = cluster;
    const made = {
      ...part.drill(cluster),
      deletionPolicy: 'Delete',
      bootstrap: { restore: { target: { claim: { name: 'a' } } } },
    };
    const verdict = validateCluster(engine.kind, { apiVersion, kind, metadata: { name: 'a' }, spec: made });
    expect(verdict.ok ? [] : verdict.violations).toEqual([]);
    expect(made).toMatchObject({
      [kind === 'PostgresCluster' ? 'instances' : 'replicas']: 1,
      version: (cluster.spec as { version: string }).version,
    });
  });
});

describe('a drill of a Redis Cluster', () => {
  const { engine, part } = partOf('RedisCluster');
  const cluster = resourceOf('RedisCluster', 'db', {
    mode: 'Cluster',
    shards: 4,
    replicasPerShard: 2,
    config: { 'min-replicas-to-write': 2, 'cluster-node-timeout': 3000 },
  });

  it.each([
    ['as many shards as the backup has', { shards: '3', 'keys.0': '10' }, 3],
    ['as many as the cluster, where the backup does not tell', undefined, 4],
  ])('has %s, and no replicas', (_, contents, shards) => {
    const spec = part.drill(cluster, contents);
    expect(spec).toMatchObject({
      mode: 'Cluster',
      shards,
      replicasPerShard: 0,
      config: { 'cluster-node-timeout': 3000 },
    });
    const { apiVersion, kind } = cluster;
    const made = { ...spec, deletionPolicy: 'Delete', bootstrap: { restore: { target: { claim: { name: 'a' } } } } };
    const verdict = validateCluster(engine.kind, { apiVersion, kind, metadata: { name: 'a' }, spec: made });
    expect(verdict.ok ? [] : verdict.violations).toEqual([]);
  });

  it('is one of mode Cluster also where the original is gone', () => {
    expect(part.specFields?.('8.0.5', { shards: '3' })).toEqual({ engine: 'Redis', mode: 'Cluster' });
    expect(part.specFields?.('Valkey 8.1.1', { 'keys.0': '3' })).toEqual({ engine: 'Valkey' });
  });

  it.each([
    ['shards', '3', '3', true],
    ['shards', '30', '29', false],
    ['keys.0', '100', '96', true],
    ['keys.0', '100', '90', false],
  ])('finds %s %s the same as %s: %s', (name, wanted, found, isSame) =>
    expect(part.isSame(name, wanted, found)).toBe(isSame),
  );
});

it('of a PostgreSQL takes no changes from another server to which the one before subscribes', () => {
  const parameters = { work_mem: '8MB', max_logical_replication_workers: '8' };
  const cluster = resourceOf('PostgresCluster', 'db', { version: '17', parameters });
  expect(partOf('PostgresCluster').part.drill(cluster)).toMatchObject({
    parameters: { work_mem: '8MB', max_logical_replication_workers: '0' },
  });
});

it('of a PostgreSQL runs no jobs of pg_cron', () => {
  const parameters = { 'cron.launch_active_jobs': 'on', 'cron.database_name': 'app' };
  const cluster = resourceOf('PostgresCluster', 'db', { version: '17', parameters });
  expect(partOf('PostgresCluster').part.drill(cluster)).toMatchObject({
    parameters: { 'cron.launch_active_jobs': 'off', 'cron.database_name': 'app' },
  });
});

it.each([
  ['a backup of it', undefined],
  ['a point in its log', { lsn: '0/3000000' }],
])('a PostgreSQL that is recovered to %s takes none either', (_, until) => {
  const restore = { target: { claim: { name: 'a' } }, ...(until === undefined ? {} : { until }) };
  const cluster = resourceOf('PostgresCluster', 'db', { version: '17', bootstrap: { restore } });
  const [recover] = partOf('PostgresCluster').part.restoreTemplate(cluster).containers;
  expect(recover?.command).toContain('max_logical_replication_workers=0');
});

it.each([true, false])('of an etcd asks for the password of the one before as that did: %s', (enabled) => {
  const cluster = resourceOf('EtcdCluster', 'db', { auth: { enabled } });
  expect(partOf('EtcdCluster').part.drill(cluster)).toMatchObject({
    auth: { enabled, secretRef: { name: 'db-root', key: 'password' } },
  });
});

describe('a drill of an etcd with TLS', () => {
  const secretRef = { name: 'members' };
  const { part } = partOf('EtcdCluster');

  it('shows the certificates of the one before, under its name', () => {
    const cluster = resourceOf('EtcdCluster', 'db', { tls: { client: { secretRef }, peer: { secretRef } } });
    expect(part.drill(cluster)).toMatchObject({
      tls: { client: { secretRef, requireCertificate: true, serverName: 'db-client.apps.svc' }, peer: { secretRef } },
    });
  });

  it.each([{ selfManaged: {} }, { certManager: { issuerRef: { name: 'ours' } } }])(
    'has certificates of its own where nobody brings one: %j',
    (source) => {
      const client = { ...source, requireCertificate: false };
      const { tls } = part.drill(resourceOf('EtcdCluster', 'db', { tls: { client, peer: source } })) as EtcdSpecInput;
      expect(tls).toEqual({ client: { selfManaged: {}, requireCertificate: false }, peer: { selfManaged: {} } });
      expect(() => resourceOf('EtcdCluster', 'drill', { tls })).not.toThrow();
    },
  );

  it('is asked by the name that its certificate has', async () => {
    const cluster = resourceOf('EtcdCluster', 'db', { tls: { client: { secretRef, serverName: 'a.example.com' } } });
    expect(part.drill(cluster)).toMatchObject({ tls: { client: { serverName: 'a.example.com' } } });
    expect(part.source(cluster).source).toMatchObject({ tls: { servername: 'a.example.com' } });
    const asked: unknown[] = [];
    const io: EngineContext = {
      ...timeOnly(),
      sleep: (_, until) => new Promise((resolve) => until?.addEventListener('abort', () => resolve())),
      secret: async () => ({ 'ca.crt': 'ca', 'tls.crt': 'cert', 'tls.key': 'key' }),
      exchange: async ({ tls }) => {
        asked.push(tls?.servername);
        return { status: 200, body: '{}' };
      },
    };
    await sessionOf(cluster as Cluster<EtcdSpec>, io).call('10.0.0.1', 'maintenance/status', {});
    expect(asked).toEqual(['a.example.com']);
  });
});

it.each([
  ['RedisCluster', 'keys.0', '1000', '1000', true],
  ['RedisCluster', 'keys.0', '1000', '951', true],
  ['RedisCluster', 'keys.0', '1000', '900', false],
  ['RedisCluster', 'keys.0', '3', undefined, false],
  ['RedisCluster', 'keys.0', '0', undefined, true],
  ['EtcdCluster', 'hash', '7', '7', true],
  ['EtcdCluster', 'hash', '7', '8', false],
  ['EtcdCluster', 'hash', '7', undefined, false],
  ['EtcdCluster', 'revision', '70', '71', true],
  ['EtcdCluster', 'revision', '70', '69', false],
  ['EtcdCluster', 'compactRevision', '-1', '0', true],
  ['EtcdCluster', 'compactRevision', '5', '0', false],
  ['PostgresCluster', 'systemId', '7001', '7001', true],
  ['PostgresCluster', 'systemId', '7001', '7002', false],
  ['PostgresCluster', 'systemId', '7001', undefined, false],
])('%s: %s %s and %s: %j', (kind, name, wanted, found, isSame) => {
  expect(partOf(kind).part.isSame(name, wanted, found)).toBe(isSame);
});

it('asks for each member of an etcd that is known, and for those that are ready', () => {
  const cluster = resourceOf('EtcdCluster', 'db', {}, { members: [{ name: 'db-4-0', role: 'voter', ready: true }] });
  const { members } = partOf('EtcdCluster').part.source(cluster).source as unknown as EtcdSource;
  expect(members.map(({ host }) => host)).toEqual(['db-4-0.db.apps.svc', 'db-client.apps.svc']);
});

it('asks for each member of a PostgreSQL that is known, and for those that it begins with, and for none twice', () => {
  const members = (spec: object, ...known: readonly string[]): readonly string[] => {
    const status = { members: known.map((name) => ({ name, role: 'standby', ready: true })) };
    const { source } = partOf('PostgresCluster').part.source(resourceOf('PostgresCluster', 'db', spec, status));
    return (source as unknown as PostgresSource).members.map(({ host }) => host.replace(/\.db\.apps\.svc$/, ''));
  };
  expect(members({})).toEqual(['db-0-0', 'db-1-0', 'db-2-0']);
  expect(members({}, 'db-0-0', 'db-3-0')).toEqual(['db-0-0', 'db-3-0', 'db-1-0', 'db-2-0']);
  expect(members({ instances: 0 })).toEqual(['db-0-0']);
});

it('cannot ask where nobody has an address', async () => {
  for (const kind of ['RedisCluster', 'EtcdCluster', 'PostgresCluster']) {
    const asked = partOf(kind).part.contents(resourceOf(kind, 'db', {}), childrenOf([]), {} as never, {});
    await expect(asked).rejects.toThrow(/has an address/);
  }
});
