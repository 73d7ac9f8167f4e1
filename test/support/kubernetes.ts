/** The API server as the tests use it, beside the operator: the same client, with an identity of its own. */
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { resourceOf } from '../../src/api/resource.ts';
import { createClient, type KubeClient } from '../../src/runtime/client.ts';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import {
  admissionBindings,
  admissionPolicies,
  backupSchedules,
  backups,
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  etcdClusters,
  memcachedClusters,
  namespaces,
  persistentVolumes,
  postgresClusters,
  postgresDatabases,
  postgresUsers,
  priorityClasses,
  redisClusters,
  resourceQuotas,
} from './resources.ts';

const others: readonly Resource[] = [
  admissionPolicies,
  admissionBindings,
  namespaces,
  clusterRoles,
  clusterRoleBindings,
  persistentVolumes,
  priorityClasses,
  resourceQuotas,
  customResourceDefinitions,
  redisClusters,
  etcdClusters,
  postgresClusters,
  postgresDatabases,
  postgresUsers,
  memcachedClusters,
  backups,
  backupSchedules,
];

function resourceOfAny(object: KubeObject): Resource {
  return others.find(({ kind }) => kind === object.kind) ?? resourceOf(object);
}

export interface Kubernetes {
  readonly client: KubeClient;
  /** `Warning` headers of all answers so far. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export async function connectKubernetes(kubeconfig: string): Promise<Kubernetes> {
  const clock = systemClock;
  const { credentials } = await loadKubeconfig({ env: process.env, clock, path: kubeconfig });
  const transport = createTransport({ credentials, userAgent: 'clusterwright-e2e', clock });
  const warnings: string[] = [];
  const client = createClient({
    transport,
    clock,
    random: Math.random,
    resourceOf: resourceOfAny,
    onWarning: (warning) => void warnings.push(warning),
  });
  return { client, warnings, close: () => transport.close() };
}

/** All objects of a resource in a namespace. */
export async function listAll(client: KubeClient, resource: Resource, namespace: string): Promise<KubeObject[]> {
  return (await client.list(resource, { namespace })).items;
}

/** Deletes an object as a person would, whatever its UID is. Nothing happens where it is not there. */
export async function removeByName(
  client: KubeClient,
  object: KubeObject,
  options: { readonly propagation?: 'Background' | 'Orphan'; readonly gracePeriodSeconds?: number } = {},
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  if (uid === undefined) throw new Error(`${object.kind} ${name} was not read from a server`);
  const ref = { resource: resourceOfAny(object), name, uid, ...(namespace === undefined ? {} : { namespace }) };
  await client.remove(ref, options);
}
