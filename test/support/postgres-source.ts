/** A PostgreSQL that is none of ours, in a pod of its own: what an import is from. Its application finds it by the Secret `NAME-app`. */
import type { KubeObject } from '../../src/api/object.ts';
import { defaultUid } from '../../src/api/pods.ts';
import { pods as podResource, statefulSets } from '../../src/api/resource.ts';
import { type Pod, podIsReady } from '../../src/resources/children.ts';
import { containerSecurityContext, podSecurityContext } from '../../src/resources/podsecurity.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { until } from './until.ts';

const bin = '/usr/lib/postgresql/17/bin';

const script = `set -eu
if [ ! -e /data/db/PG_VERSION ]; then
  ${bin}/initdb -D /data/db -U postgres -A trust -k -E UTF8 --locale=C.UTF-8 > /dev/null
  cat >> /data/db/postgresql.conf <<CONF
listen_addresses = '*'
unix_socket_directories = '/tmp'
max_slot_wal_keep_size = 256MB
max_connections = 150
shared_buffers = 32MB
CONF
  cat > /data/db/pg_hba.conf <<CONF
local all all trust
host all all all scram-sha-256
host replication importer all scram-sha-256
CONF
  ${bin}/pg_ctl -D /data/db -w -l /tmp/log start
  ${bin}/psql -h /tmp -U postgres -d postgres -c "create role importer login replication password 'import-me'" \\
    -c "create role app login password 'old'" -c "create database app owner app"
  ${bin}/pg_ctl -D /data/db -w stop
fi
exec ${bin}/postgres -D /data/db
`;

export interface PostgresSource {
  readonly name: string;
  /** Of the password of the role `importer`. */
  readonly secret: string;
  /** Ends the server in order, and resolves once it has ended. */
  shutDown(): Promise<void>;
}

export async function startPostgresSource(
  client: KubeClient,
  namespace: string,
  name: string,
): Promise<PostgresSource> {
  const metadata = { name, namespace };
  const labels = { app: name };
  const data = { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'] };
  const objects: readonly KubeObject[] = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: {
        'start.sh': script,
        passwd: `root:x:0:0:root:/:/bin/sh\npostgres:x:${defaultUid}:${defaultUid}::/tmp:/bin/sh\n`,
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: `${name}-app` },
      stringData: { uri: `postgresql://app:old@${name}:5432/app?sslmode=disable` },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: `${name}-login` },
      stringData: { password: 'import-me' },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 5432 }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {
        serviceName: name,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            automountServiceAccountToken: false,
            securityContext: podSecurityContext,
            containers: [
              {
                name: 'postgres',
                image: imageReference('postgres:17'),
                imagePullPolicy: 'IfNotPresent',
                command: ['/bin/sh', '/etc/source/start.sh'],
                readinessProbe: { tcpSocket: { port: 5432 }, periodSeconds: 1 },
                lifecycle: {
                  preStop: { exec: { command: [`${bin}/pg_ctl`, 'stop', '-D', '/data/db', '-m', 'fast', '-w'] } },
                },
                resources: { limits: { memory: '256Mi' } },
                securityContext: containerSecurityContext,
                volumeMounts: [
                  { name: 'data', mountPath: '/data' },
                  { name: 'tmp', mountPath: '/tmp' },
                  { name: 'config', mountPath: '/etc/source' },
                  { name: 'config', mountPath: '/etc/passwd', subPath: 'passwd' },
                ],
              },
            ],
            volumes: [
              { name: 'config', configMap: { name } },
              { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
            ],
          },
        },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: data }],
      },
    } as KubeObject,
  ];
  for (const object of objects) await client.create(object);
  const pod = { resource: podResource, namespace, name: `${name}-0` };
  await until('the source runs', async () => {
    if (!podIsReady((await client.get(pod)) as Pod)) throw new Error('it is not ready');
  });
  return {
    name,
    secret: `${name}-login`,
    async shutDown() {
      await client.mergePatch({ resource: statefulSets, namespace, name }, { spec: { replicas: 0 } });
      await until('the source has ended', async () => {
        const isGone = await client.get(pod).then(
          () => false,
          () => true,
        );
        if (!isGone) throw new Error('its pod is there');
      });
    },
  };
}
