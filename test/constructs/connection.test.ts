/** An application beside its database, in one chart. */
import { Chart } from 'cdk8s';
import { Deployment } from 'cdk8s-plus-28';
import { expect, it } from 'vitest';
import { EtcdCluster, PostgresCluster, RedisCluster } from '../../src/constructs/clusters.ts';
import type { Connection } from '../../src/constructs/connection.ts';
import { PostgresUser } from '../../src/constructs/postgres-contents.ts';
import { findObject, manifestsOf } from './manifests.ts';

interface Connected {
  readonly connection: Connection;
}

/** `NAME=VALUE`, or `NAME=SECRET/KEY` in angle brackets. */
function environmentOf(build: (chart: Chart) => Connected): string[] {
  const objects = manifestsOf((chart) => {
    const { connection } = build(chart);
    new Deployment(chart, 'shop', {
      metadata: { name: 'shop' },
      containers: [{ image: 'shop:1', envVariables: connection.env() }],
    });
    // A second reader of the same Secrets.
    connection.env();
  });
  const { spec } = findObject(objects, 'Deployment', 'shop') as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { env: Variable[] }[] } } };
  };
  const [container] = spec.template.spec.containers;
  return (container?.env ?? []).map(({ name, value, valueFrom }) =>
    value === undefined
      ? `${name}=<${valueFrom?.secretKeyRef.name}/${valueFrom?.secretKeyRef.key}>`
      : `${name}=${value}`,
  );
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

const metadata = { name: 'db' };

it.each<[string, (chart: Chart) => Connected, readonly string[]]>([
  [
    'a PostgresCluster',
    (chart) => new PostgresCluster(chart, 'db', { metadata }),
    [
      'PGHOST=<db-app/host>',
      'PGPORT=<db-app/port>',
      'PGDATABASE=<db-app/database>',
      'PGUSER=<db-app/username>',
      'PGPASSWORD=<db-app/password>',
      'PGSSLMODE=require',
      'DATABASE_URL=<db-app/uri>',
    ],
  ],
  [
    'a RedisCluster under Sentinel, in a namespace',
    (chart) => new RedisCluster(chart, 'db', { metadata: { ...metadata, namespace: 'shop' } }),
    [
      'REDIS_HOST=db-primary.shop.svc',
      'REDIS_PORT=6379',
      'REDIS_PASSWORD=<db-auth/password>',
      'REDIS_SENTINEL_HOST=db-sentinel.shop.svc',
      'REDIS_SENTINEL_PORT=26379',
      'REDIS_SENTINEL_NAME=db',
    ],
  ],
  [
    'a single Redis with a password of its own, in the namespace of its chart',
    (chart) =>
      new RedisCluster(new Chart(chart, 'inner', { namespace: 'cache' }), 'db', {
        metadata,
        spec: { mode: 'Standalone', replicas: 1, auth: { secretRef: { name: 'mine', key: 'p' } } },
      }),
    ['REDIS_HOST=db-primary.cache.svc', 'REDIS_PORT=6379', 'REDIS_PASSWORD=<mine/p>'],
  ],
  [
    'an EtcdCluster',
    (chart) => new EtcdCluster(chart, 'db', { metadata }),
    ['ETCDCTL_ENDPOINTS=http://db-client:2379'],
  ],
  [
    'a PostgresUser',
    (chart) =>
      new PostgresUser(chart, 'user', { metadata: { name: 'reader' }, spec: { cluster: { name: 'db' }, name: 'r' } }),
    [
      'PGHOST=<reader-login/host>',
      'PGPORT=<reader-login/port>',
      'PGDATABASE=<reader-login/database>',
      'PGUSER=<reader-login/username>',
      'PGPASSWORD=<reader-login/password>',
      'PGSSLMODE=require',
      'DATABASE_URL=<reader-login/uri>',
    ],
  ],
  [
    'a PostgresUser with a password of its own, in a namespace',
    (chart) =>
      new PostgresUser(chart, 'user', {
        metadata: { name: 'reader', namespace: 'shop' },
        spec: { cluster: { name: 'db' }, name: 'r', database: 'orders', passwordSecret: { name: 'mine', key: 'p' } },
      }),
    [
      'PGHOST=db-primary.shop.svc',
      'PGPORT=5432',
      'PGDATABASE=orders',
      'PGUSER=r',
      'PGPASSWORD=<mine/p>',
      'PGSSLMODE=require',
    ],
  ],
  [
    'a PostgresUser that cannot log in',
    (chart) =>
      new PostgresUser(chart, 'user', {
        metadata: { name: 'group' },
        spec: { cluster: { name: 'db' }, name: 'g', login: false },
      }),
    [],
  ],
  [
    'an EtcdCluster with TLS and a password',
    (chart) =>
      new EtcdCluster(chart, 'db', {
        metadata,
        spec: { auth: { enabled: true }, tls: { client: { selfManaged: {} } } },
      }),
    ['ETCDCTL_ENDPOINTS=https://db-client:2379', 'ETCDCTL_USER=root', 'ETCDCTL_PASSWORD=<db-root/password>'],
  ],
])('%s is what a container is told', (_, build, expected) => {
  expect(environmentOf(build)).toEqual(expected);
});

it('Services, ports and CAs are values as well', () => {
  manifestsOf((chart) => {
    const { connection } = new PostgresCluster(chart, 'db', { metadata: { name: 'db', namespace: 'shop' } });
    expect(connection.services).toEqual({
      primary: { host: 'db-primary.shop.svc', port: 5432 },
      replicas: { host: 'db-replicas.shop.svc', port: 5432 },
    });
    expect(connection.ca).toEqual({ secretName: 'db-server-tls', key: 'ca.crt' });
    const shown = { server: { secretRef: { name: 'cert' } } };
    expect(new PostgresCluster(chart, 'own', { metadata: { name: 'own' }, spec: { tls: shown } }).connection.ca).toBe(
      undefined,
    );
  });
});
