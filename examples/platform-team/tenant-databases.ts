/** The databases of a tenant, and their backups. */

import { BackupSchedule, EtcdCluster, PostgresCluster, RedisCluster } from 'clusterwright';
import type { Construct } from 'constructs';

export type Size = 'small' | 'large';

const sizes = {
  small: { memory: '512Mi', storage: '5Gi', postgresInstances: 2 },
  large: { memory: '4Gi', storage: '50Gi', postgresInstances: 3 },
} as const;

export function tenantDatabases(scope: Construct, size: Size): void {
  const { memory, storage, postgresInstances } = sizes[size];
  const resources = { limits: { memory } };

  new RedisCluster(scope, 'cache', {
    metadata: { name: 'cache' },
    // An exporter in each pod.
    spec: { replicas: 3, resources, storage: { size: storage }, monitoring: {} },
  });
  new EtcdCluster(scope, 'registry', {
    metadata: { name: 'registry' },
    spec: { replicas: 3, auth: { enabled: true }, tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } } },
  });
  new PostgresCluster(scope, 'db', {
    metadata: { name: 'db' },
    spec: {
      version: '17',
      image: 'registry.example/postgres:17',
      instances: postgresInstances,
      resources,
      storage: { size: storage },
      // A pod with an exporter for each instance.
      monitoring: { image: 'registry.example/postgres-exporter:0.17' },
    },
  });

  // Not at the same minute: the schedules of all tenants share the object store.
  backups(scope, { kind: 'RedisCluster', name: 'cache' }, '10 * * * *');
  backups(scope, { kind: 'EtcdCluster', name: 'registry' }, '20 * * * *');
  backups(scope, { kind: 'PostgresCluster', name: 'db' }, '30 1 * * *');
}

function backups(scope: Construct, cluster: { readonly kind: string; readonly name: string }, schedule: string): void {
  new BackupSchedule(scope, `backups-${cluster.name}`, {
    metadata: { name: cluster.name },
    spec: {
      cluster,
      schedule,
      jitter: '5m',
      retention: { count: 48, age: '30d' },
      target: {
        s3: { endpoint: 'https://s3.example.com', bucket: 'database-backups', credentials: 'backup-credentials' },
      },
      encryption: { secret: 'backup-key' },
    },
  });
}
