/**
 * Where runs take place: a namespace of its own in the sandbox, with one RedisCluster at most, watched all the time.
 *
 * Runs follow each other in one place as long as each ends as it should; a run that did not leaves a place that nobody
 * uses again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiVersionOf } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import type { Credentials } from '../../../src/runtime/credentials.ts';
import { loadKubeconfig } from '../../../src/runtime/kubeconfig.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import { createTransport } from '../../../src/runtime/undici-transport.ts';
import { systemClock } from '../../../src/system/clock.ts';
import type { ForesightPlace } from '../../support/foreseen-operator.ts';
import { connectKubernetes } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import { imageOf, type TestCluster, testCluster } from '../../support/redis-cluster.ts';
import { redisClusters } from '../../support/resources.ts';
import { type Chronicle, openChronicle } from './chronicle.ts';
import { operatorIdentity } from './identity.ts';

/** Short, since writers and sentinels use it everywhere. */
export const clusterName = 'r';

export interface Place {
  readonly namespace: string;
  readonly client: KubeClient;
  /** The administrator's wire, for requests that the client does not know. */
  readonly admin: Transport;
  /** Of the operator. */
  readonly credentials: Credentials;
  /** Files of the operator; gone when the place is closed. */
  readonly directory: string;
  readonly chronicle: Chronicle;
  /** Where O13 tells of the operators, those that prepared the place apart. */
  readonly foresight: ForesightPlace;
  readonly cluster: TestCluster;
  /** What the cluster was last asked to be; undefined: there is none, and nothing is left of one. `spoilt`: use another. */
  spec: RedisSpecInput | undefined | 'spoilt';
  create(spec: RedisSpecInput): Promise<void>;
  close(): Promise<void>;
}

export async function openPlace(kubeconfig: string, namespace: string): Promise<Place> {
  const clock = systemClock;
  const { credentials } = await loadKubeconfig({ env: process.env, clock, path: kubeconfig });
  const admin = createTransport({ credentials, userAgent: 'clusterwright-faults-admin', clock });
  const { client, close } = await connectKubernetes(kubeconfig);
  await removeNamespace(client, namespace);
  await client.create(restricted(namespace));
  const own = await operatorIdentity(admin, credentials, namespace);
  const directory = await mkdtemp(join(tmpdir(), 'clusterwright-faults-'));
  const chronicle = await openChronicle(client, namespace, clock);
  return {
    namespace,
    client,
    admin,
    credentials: own,
    directory,
    chronicle,
    foresight: { kubeconfig, file: join(directory, 'foresight.jsonl') },
    cluster: testCluster(client, namespace, clusterName),
    spec: undefined,
    async create(spec) {
      await client.create({
        apiVersion: apiVersionOf(redisClusters),
        kind: redisClusters.kind,
        metadata: { name: clusterName, namespace },
        spec: { image: imageOf(spec.version ?? '8.0'), ...spec },
      });
    },
    async close() {
      await chronicle.close();
      await removeNamespace(client, namespace);
      await rm(directory, { recursive: true });
      await admin.close();
      await close();
    },
  };
}
