/** The cluster that a Backup or a BackupSchedule is about: from the same manifest, or else from the API server. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { KubeClient } from '../runtime/client.ts';
import { findCluster, listClusters, readChildren } from './live.ts';
import type { About } from './observation.ts';

/** Among objects that are at hand; undefined where it is not one of them, or is not valid. */
export function referredAmong(
  engines: readonly KindHandler[],
  engine: KindHandler,
  cluster: Cluster,
  objects: readonly KubeObject[],
): Cluster | undefined {
  const referral = engine.targetRef?.(cluster);
  const other = engines.find(({ kind }) => kind.resource.kind === referral?.kind);
  if (referral === undefined || other === undefined) return undefined;
  const { namespace } = cluster.metadata;
  const found = objects.find(
    ({ kind, metadata }) =>
      kind === referral.kind && metadata?.name === referral.name && (metadata.namespace ?? namespace) === namespace,
  );
  if (found === undefined) return undefined;
  const verdict = validateCluster(other.kind, found, { unknown: 'prune', namespace });
  return verdict.ok ? verdict.cluster : undefined;
}

/** As the controller finds it. */
export async function findReferred(
  client: Pick<KubeClient, 'get'>,
  engines: readonly KindHandler[],
  engine: KindHandler,
  cluster: Cluster,
): Promise<Cluster | undefined> {
  const referral = engine.targetRef?.(cluster);
  const other = engines.find(({ kind }) => kind.resource.kind === referral?.kind);
  if (referral === undefined || other === undefined) return undefined;
  const object = await findCluster(client, other, cluster.metadata.namespace, referral.name);
  return object === undefined ? undefined : referredAmong(engines, engine, cluster, [object]);
}

/** Of a kind that asks the processes of another cluster: those, and its peers. */
export async function aboutOf(
  client: Pick<KubeClient, 'list'>,
  engines: readonly KindHandler[],
  engine: KindHandler,
  cluster: Cluster,
): Promise<About | undefined> {
  const referral = engine.asksTarget === true ? engine.targetRef?.(cluster) : undefined;
  const other = engines.find(({ kind }) => kind.resource.kind === referral?.kind);
  if (referral === undefined || other === undefined) return undefined;
  const { namespace } = cluster.metadata;
  const [children, peers] = await Promise.all([
    readChildren(client, other, namespace, referral.name),
    listClusters(client, engine, namespace),
  ]);
  return { children, peers };
}
