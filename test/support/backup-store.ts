/** A place for backups in a stage: a real S3 server in a pod, on a volume that outlives it. */
import { s3Target } from '../../src/agent/target/s3.ts';
import type { Target } from '../../src/agent/target/target.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { pods as podResource, services } from '../../src/api/resource.ts';
import { type Pod, podIsReady } from '../../src/resources/children.ts';
import { containerSecurityContext, podSecurityContext } from '../../src/resources/podsecurity.ts';
import { busyboxImage } from '../../src/sandbox/images/base.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { agentContext } from './agent-context.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

const access = { accessKeyId: 'backup-writer', secretAccessKey: 'not-to-be-seen-in-any-log' } as const;
const bucket = 'backups';
const port = 7070;

export interface BackupStore {
  /** As a spec names it. */
  readonly target: { readonly s3: object };
  /** The same server, from the test's own process. */
  open(): Promise<Target>;
  /** Ends the server's pod, and begins it again: as one that takes no writes, if that is wanted. */
  stop(): Promise<void>;
  start(options?: { readonly readOnly?: boolean }): Promise<void>;
}

/** `name` is free in the stage. Makes the Secret `NAME-access` as well. */
export async function openStore(stage: Stage, name = 'store'): Promise<BackupStore> {
  const { client, namespace } = stage;
  const labels = { app: name };
  await client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-access`, namespace },
    stringData: access,
  });
  await client.create(claimOf(stage, `${name}-data`));
  await client.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector: labels, ports: [{ port, targetPort: port, protocol: 'TCP' }] },
  });
  const ref = { resource: podResource, namespace, name };

  const store: BackupStore = {
    target: {
      s3: { endpoint: `http://${name}.${namespace}.svc:${port}`, bucket, credentials: `${name}-access` },
    },
    async open() {
      const service = await client.get({ resource: services, namespace, name });
      const { clusterIP } = service.spec as { readonly clusterIP: string };
      const place = {
        type: 's3' as const,
        endpoint: `http://${clusterIP}:${port}`,
        bucket,
        region: 'us-east-1',
        prefix: '',
        pathStyle: true,
        accessKeyIdFile: '/never/read',
        secretAccessKeyFile: '/never/read',
      };
      return s3Target(place, access, agentContext());
    },
    async stop() {
      const { uid = '' } = (await client.get(ref)).metadata;
      await client.remove({ ...ref, uid }, { gracePeriodSeconds: 0 });
    },
    async start({ readOnly = false } = {}) {
      const pod = serverPod(namespace, name, labels, readOnly ? ['--readonly'] : []);
      await until(`${name} begun`, () => client.create(pod));
      await until(`${name} ready`, async () => {
        if (!podIsReady((await client.get(ref)) as Pod)) throw new Error('not ready');
      });
    },
  };
  await store.start();
  return store;
}

/** A claim for backups, or for a store. */
export function claimOf({ namespace }: Pick<Stage, 'namespace'>, name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

function serverPod(
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  options: readonly string[],
): KubeObject {
  const mounts = [{ name: 'data', mountPath: '/data' }];
  const container = (more: object): object => ({
    securityContext: containerSecurityContext,
    volumeMounts: mounts,
    ...more,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      automountServiceAccountToken: false,
      securityContext: podSecurityContext,
      initContainers: [
        container({
          name: 'directories',
          image: busyboxImage,
          imagePullPolicy: 'IfNotPresent',
          command: ['/bin/busybox', 'mkdir', '-p', `/data/root/${bucket}`, '/data/metadata'],
        }),
      ],
      containers: [
        container({
          name: 's3',
          image: imageReference('s3:dev'),
          imagePullPolicy: 'IfNotPresent',
          command: [
            '/usr/local/bin/versitygw',
            ...['--access', access.accessKeyId, '--secret', access.secretAccessKey, '--port', `:${port}`],
            ...options,
            ...['posix', '--sidecar', '/data/metadata', '/data/root'],
          ],
          readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
        }),
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${name}-data` } }],
    },
  };
}
