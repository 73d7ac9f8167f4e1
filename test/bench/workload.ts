/**
 * The clusters of a run: their names, their manifests, and the objects that one of ours is made of, from the very
 * functions that the controller calls.
 */
import { readFile } from 'node:fs/promises';
import type { Construct } from 'constructs';
import { parse } from 'yaml';
import type { Cluster } from '../../src/api/cluster.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { EtcdCluster, PostgresCluster, RedisCluster } from '../../src/constructs/clusters.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { etcd } from '../../src/engines/etcd/index.ts';
import { postgres } from '../../src/engines/postgres/index.ts';
import { redis } from '../../src/engines/redis/index.ts';
import { toHandler } from '../../src/jobs/to-handler.ts';

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

/** One of our own kinds: a resource with nothing but its name. */
export interface OwnWorkload extends Workload {
  readonly engine: KindHandler;
  /** JSON merge patch of one change; `{i}` is a number that differs each time. */
  readonly change: string;
  /** Whether `stand-in.ts` can answer for its members. */
  readonly hasStandIn: boolean;
  synthesize(scope: Construct, name: string, namespace: string): void;
}

function workloadOf(engine: KindHandler): Pick<OwnWorkload, 'engine' | 'resource' | 'manifest'> {
  const { resource } = engine.kind;
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return { engine, resource, manifest: (name, namespace) => ({ ...type, metadata: { name, namespace }, spec: {} }) };
}

/** Three data nodes and three sentinels. */
const redisWorkload: OwnWorkload = {
  ...workloadOf(toHandler(redis)),
  change: '{"spec":{"config":{"timeout":{i}}}}',
  hasStandIn: true,
  synthesize: (scope, name, namespace) => void new RedisCluster(scope, name, { metadata: { name, namespace } }),
};

/** Three members. */
const etcdWorkload: OwnWorkload = {
  ...workloadOf(toHandler(etcd)),
  // Not below 100, whatever number comes.
  change: '{"spec":{"config":{"snapshotCount":10{i}}}}',
  hasStandIn: false,
  synthesize: (scope, name, namespace) => void new EtcdCluster(scope, name, { metadata: { name, namespace } }),
};

/** Three members, with certificates of their own. */
const postgresWorkload: OwnWorkload = {
  ...workloadOf(toHandler(postgres)),
  change: '{"spec":{"parameters":{"work_mem":"10{i}kB"}}}',
  hasStandIn: false,
  synthesize: (scope, name, namespace) => void new PostgresCluster(scope, name, { metadata: { name, namespace } }),
};

export const ownWorkloads: readonly OwnWorkload[] = [redisWorkload, etcdWorkload, postgresWorkload];

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
export function understood({ engine }: OwnWorkload, stored: KubeObject): Cluster {
  const verdict = validateCluster(engine.kind, stored, { unknown: 'prune' });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster;
}

/** In place of a certificate and its key, in characters: making keys is the controller's work, not the API server's. */
const issuedValues = { 'ca.crt': 'x'.repeat(700), 'tls.crt': 'x'.repeat(900), 'tls.key': 'x'.repeat(240) };

/** All that the controller would create for it, in its order. */
export function childrenToCreate({ engine }: OwnWorkload, cluster: Cluster): KubeObject[] {
  return engine.planOffline(cluster).steps.flatMap((step) => {
    if (step.type === 'issue') return [{ ...step.object, stringData: issuedValues }];
    if (step.type !== 'create') return [];
    const { object, generate = [] } = step;
    if (generate.length === 0) return [object];
    return [
      { ...object, stringData: Object.fromEntries(generate.map(({ key, length }) => [key, 'x'.repeat(length)])) },
    ];
  });
}
