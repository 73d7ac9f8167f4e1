/** The pod in which the writers of `postgres-writer.py` run: libpq, with what the Secret of the application says and nothing else. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pods as podResource } from '../../src/api/resource.ts';
import { postgresNames } from '../../src/engines/postgres/names.ts';
import { type Pod, podIsReady } from '../../src/resources/children.ts';
import { containerSecurityContext, podSecurityContext } from '../../src/resources/podsecurity.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { removeByName } from './kubernetes.ts';
import type { PostgresTestCluster } from './postgres-test-cluster.ts';
import { until } from './until.ts';

const port = 8000;
const script = join(import.meta.dirname, 'postgres-writer.py');

export interface ClientPod {
  /** What the script answers at a path. Rejects with its words where it fails. */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>;
  remove(): Promise<void>;
}

export interface ClientPodOptions {
  readonly cluster: PostgresTestCluster;
  /** Free in the namespace; what is written carries it. */
  readonly name: string;
  readonly writers: number;
  /** Default: any node. */
  readonly node?: string;
  /** Default: that of the Secret, which is the primary. */
  readonly service?: string;
  /** How long an attempt may take; default 2. */
  readonly limitSeconds?: number;
}

export async function startClientPod(options: ClientPodOptions): Promise<ClientPod> {
  const { cluster, name, writers, node, service, limitSeconds } = options;
  const { client, namespace } = cluster;
  const ref = { resource: podResource, namespace, name };
  const metadata = { name, namespace };
  await client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { 'writer.py': await readFile(script, 'utf8') },
  });
  const uri = { secretKeyRef: { name: postgresNames(cluster.name).app, key: 'uri' } };
  await client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      ...(node === undefined ? {} : { nodeName: node }),
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: podSecurityContext,
      containers: [
        {
          name: 'client',
          image: imageReference('postgres:17'),
          imagePullPolicy: 'IfNotPresent',
          command: ['python3', '-u', '/script/writer.py'],
          env: [
            { name: 'URI', valueFrom: uri },
            { name: 'RUN', value: name },
            { name: 'WRITERS', value: String(writers) },
            ...(service === undefined ? [] : [{ name: 'SERVICE', value: service }]),
            ...(limitSeconds === undefined ? [] : [{ name: 'LIMIT', value: String(limitSeconds) }]),
          ],
          ports: [{ containerPort: port }],
          readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
          resources: { limits: { memory: '128Mi' } },
          securityContext: containerSecurityContext,
          volumeMounts: [{ name: 'script', mountPath: '/script', readOnly: true }],
        },
      ],
      volumes: [{ name: 'script', configMap: { name } }],
    },
  });
  const address = await until('the client runs', async () => {
    const pod = (await client.get(ref)) as Pod;
    if (!podIsReady(pod) || pod.status?.podIP === undefined) throw new Error(JSON.stringify(pod.status));
    return pod.status.podIP;
  });
  return {
    async ask(path, parameters = {}) {
      const query = new URLSearchParams(parameters);
      const answer = await fetch(`http://${address}:${port}${path}?${query}`, { signal: AbortSignal.timeout(40_000) });
      const value: unknown = await answer.json();
      if (!answer.ok) throw new Error(String(value));
      return value;
    },
    async remove() {
      await removeByName(client, await client.get(ref), { gracePeriodSeconds: 0 });
    },
  };
}
