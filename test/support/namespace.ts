/** Namespaces of tests: made to enforce `restricted`, and removed with everything in them. */
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { listAll, removeByName } from './kubernetes.ts';
import {
  etcdClusters,
  namespaces,
  postgresClusters,
  postgresDatabases,
  postgresUsers,
  redisClusters,
} from './resources.ts';
import { until } from './until.ts';

export function restricted(name: string): KubeObject {
  const labels = Object.fromEntries(
    ['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  );
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** At once: nobody waits for a hand-over in a cluster that nobody needs any more. */
export async function removeNamespace(client: KubeClient, name: string): Promise<void> {
  let found: KubeObject;
  try {
    found = await client.get({ resource: namespaces, name });
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  for (const resource of [redisClusters, etcdClusters, postgresClusters, postgresDatabases, postgresUsers]) {
    for (const cluster of await listAll(client, resource, name)) {
      // Without an operator nobody would take the finalizer away.
      const ref = { resource, namespace: name, name: cluster.metadata.name };
      await client.mergePatch(ref, { metadata: { finalizers: null } }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }
  await removeByName(client, found);
  for (const pod of await listAll(client, pods, name)) await removeByName(client, pod, { gracePeriodSeconds: 0 });
  await until(
    `the namespace ${name} gone`,
    async () => {
      for (const pod of await listAll(client, pods, name)) await removeByName(client, pod, { gracePeriodSeconds: 0 });
      const gone = await client.get({ resource: namespaces, name }).then(
        () => false,
        (error) => isNotFound(error),
      );
      if (!gone) throw new Error(`${name} is there`);
    },
    { withinMs: 240_000, everyMs: 500 },
  );
}
