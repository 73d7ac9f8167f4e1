/**
 * The clusters of a run: their names, their manifests, and the objects that one of ours is made of, from the very
 * functions that the controller calls.
 */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Cluster } from '../../src/api/cluster.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../src/api/object.ts';
import { type RedisSpec, redisKind } from '../../src/api/redis.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { redisResources } from '../../src/engines/redis/resources.ts';
import { fingerprinted } from '../../src/plan/difference.ts';

/** Manifest of a cluster by its name and namespace. */
export type Manifest = (name: string, namespace: string) => KubeObject;

export interface Workload {
  readonly resource: Resource;
  readonly manifest: Manifest;
}

/** Of equal length, so that none begins like another. */
export function clusterName(i: number): string {
  return `r${String(i).padStart(6, '0')}`;
}

/** The cluster that an object belongs to, by the name it bears. */
export function clusterOf(objectName: string): string | undefined {
  return /(?:^|-)(r\d{6})(?:-|$)/.exec(objectName)?.[1];
}

/** Three data nodes and three sentinels: a resource with nothing but its name. */
export const redisWorkload: Workload = {
  resource: redisKind.resource,
  manifest: (name, namespace) => ({
    apiVersion: apiVersionOf(redisKind.resource),
    kind: redisKind.resource.kind,
    metadata: { name, namespace },
    spec: {},
  }),
};

/** @throws Error when the file holds another kind, or would make two clusters of one name */
export async function templateOf(file: string, kind: string): Promise<Manifest> {
  const text = await readFile(file, 'utf8');
  const manifest: Manifest = (name, namespace) =>
    parse(text.replaceAll('{name}', name).replaceAll('{namespace}', namespace)) as KubeObject;
  const { kind: has, metadata } = manifest('r000000', 'bench');
  if (has !== kind) throw new Error(`${file}: holds a ${has}, not a ${kind}`);
  if (metadata.name !== 'r000000' || metadata.namespace !== 'bench') {
    throw new Error(`${file}: metadata needs name: '{name}' and namespace: '{namespace}'`);
  }
  return manifest;
}

/** As the controller understands what the API server answered. */
export function understood(stored: KubeObject): Cluster<RedisSpec> {
  const verdict = validateCluster(redisKind, stored, { unknown: 'prune' });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster as Cluster<RedisSpec>;
}

/** All that the controller would create for it. */
export function childrenToCreate(cluster: Cluster<RedisSpec>): KubeObject[] {
  return redisResources(cluster).map(({ object, generate }) =>
    generate === undefined
      ? fingerprinted(object)
      : { ...object, stringData: Object.fromEntries(generate.map(({ key, length }) => [key, 'x'.repeat(length)])) },
  );
}
