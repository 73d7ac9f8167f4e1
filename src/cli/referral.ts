/** The cluster that a Backup or a BackupSchedule is about: from the same manifest, or else from the API server. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { KindHandler, ObjectReference } from '../engine/engine.ts';
import type { KubeClient } from '../runtime/client.ts';
import { standardInput } from './cli-context.ts';
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

/** What a command was given. */
export interface ManifestRead {
  /** A file, a folder, or `-`. */
  readonly subject: string;
  readonly objects: readonly KubeObject[];
}

/** Most clusters that a message names. */
const mostNamed = 5;

/**
 * `PostgresCluster team/typo is not in dist/, which has PostgresCluster team/pg`: who has misspelt a name sees the right one.
 *
 * @param namespace that of the resource, and of objects that name none
 */
export function missingTarget(
  { kind, name }: ObjectReference,
  namespace: string,
  { subject, objects }: ManifestRead,
): string {
  const found = objects.filter((object) => object.kind === kind);
  const names = found.map(({ metadata }) => `${metadata?.namespace ?? namespace}/${metadata?.name}`);
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  const which = names.length === 0 ? `no ${kind}` : `${kind} ${names.slice(0, mostNamed).join(', ')}${more}`;
  return `${kind} ${namespace}/${name} is not in ${subject === '-' ? standardInput : subject}, which has ${which}`;
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
