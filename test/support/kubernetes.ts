/** The API server as the tests use it, beside the operator: the same client, with an identity of its own. */

import { backupKind } from '../../src/api/backup.ts';
import { scheduleKind } from '../../src/api/backup-schedule.ts';
import { etcdKind } from '../../src/api/etcd.ts';
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { redisKind } from '../../src/api/redis.ts';
import { resourceOf } from '../../src/api/resource.ts';
import { createClient, type KubeClient } from '../../src/runtime/client.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';

const clusterWide = (group: string, version: string, kind: string, plural: string): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced: false,
});

export const namespaces = clusterWide('', 'v1', 'Namespace', 'namespaces');
export const persistentVolumes = clusterWide('', 'v1', 'PersistentVolume', 'persistentvolumes');
export const customResourceDefinitions = clusterWide(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const endpointSlices: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};
export const redisClusters: Resource = redisKind.resource;
export const etcdClusters: Resource = etcdKind.resource;
export const backups: Resource = backupKind.resource;
export const backupSchedules: Resource = scheduleKind.resource;

const others: readonly Resource[] = [
  namespaces,
  persistentVolumes,
  customResourceDefinitions,
  redisClusters,
  etcdClusters,
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
