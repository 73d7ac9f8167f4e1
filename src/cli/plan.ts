/**
 * `clusterwright plan`: what the controller would do next about the clusters of a manifest, or about one that exists.
 *
 * It reads and never writes. Exit code 0: nothing to do; 2: something would change; 1: it could not be told.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { engines } from '../engines/index.ts';
import { allOrFaults, namespaceOf, ownClusters, readDocuments, validCluster, type WrittenCluster } from './clusters.ts';
import type { Connection, Target } from './connection.ts';
import { dataText, type Format } from './documents.ts';
import { CommandError } from './fault.ts';
import { type ClusterRef, parseClusterRef } from './kinds.ts';
import { findCluster, liveDocument } from './live.ts';
import type { Way } from './observation.ts';
import { planText } from './plan-text.ts';
import { livePreview, offlinePreview, type Preview } from './preview.ts';
import { findReferred, referredAmong } from './referral.ts';
import { specChanges } from './spec-change.ts';
import type { Command, Surroundings } from './surroundings.ts';

export interface PlanArguments extends Pick<Target, 'kubeconfig' | 'context'> {
  /** A file, `-`, or `KIND/NAME`. */
  readonly subject: string;
  readonly namespace?: string | undefined;
  readonly offline?: boolean | undefined;
  /** How to ask the database processes. Default `forward`. */
  readonly ask?: Way | undefined;
  readonly output?: Format | undefined;
}

export const plan: Command<PlanArguments> = async (args, around) => {
  const ref = parseClusterRef(engines, args.subject);
  const previews = args.offline === true ? await planOffline(args, ref, around) : await planLive(args, ref, around);
  if (args.output === undefined) around.stdout(previews.map(planText).join('\n'));
  else around.stdout(dataText({ clusters: previews.map(planData) }, args.output));
  return previews.some((preview) => preview.plan.steps.length > 0 || preview.spec.length > 0) ? 2 : 0;
};

function planData({ cluster, ...preview }: Preview): object {
  const { kind, metadata } = cluster;
  return { kind, namespace: metadata.namespace, name: metadata.name, ...preview };
}

async function planOffline(args: PlanArguments, ref: ClusterRef | undefined, around: Surroundings): Promise<Preview[]> {
  if (ref !== undefined) throw new CommandError('--offline plans from a file; KIND/NAME is read from a cluster');
  const clusters = await written(args, around);
  return allOrFaults(clusters, (entry) => {
    const namespace = namespaceOf(entry, { namespace: args.namespace, fallback: 'default' });
    const cluster = validCluster(entry, entry.object, { namespace });
    const others = clusters.map(({ object }) => object);
    return offlinePreview(entry.engine, cluster, referredAmong(engines, entry.engine, cluster, others));
  });
}

async function written(args: PlanArguments, around: Surroundings): Promise<readonly WrittenCluster[]> {
  const { clusters, notes } = ownClusters(engines, await readDocuments(args.subject, around));
  for (const note of notes) around.stderr(`${note}\n`);
  return clusters;
}

async function planLive(args: PlanArguments, ref: ClusterRef | undefined, around: Surroundings): Promise<Preview[]> {
  const { namespace, ask = 'forward' } = args;
  // A manifest that cannot be read needs no cluster to say so.
  const clusters = ref === undefined ? await written(args, around) : [];
  const connection = await around.connect(args);
  try {
    const { client, forward } = connection;
    const options = { client, forward, dial: around.dial, way: ask };
    if (ref !== undefined) {
      const cluster = await existing(connection, ref, namespace ?? connection.namespace);
      const referred = await findReferred(client, engines, ref.engine, cluster);
      return [await livePreview(ref.engine, cluster, [], options, referred)];
    }
    return await allOrFaults(clusters, async (entry) => {
      const where = namespaceOf(entry, { namespace, fallback: connection.namespace });
      const { cluster, live } = await intended(connection, entry, where);
      return livePreview(
        entry.engine,
        cluster,
        live === undefined ? [] : specChanges(cluster.spec, live.spec),
        options,
        await findReferred(client, engines, entry.engine, cluster),
      );
    });
  } finally {
    await connection.close();
  }
}

/** As the controller reads it. */
async function existing(
  { client, cluster }: Connection,
  { engine, name }: ClusterRef,
  namespace: string,
): Promise<Cluster<CommonSpec>> {
  const object = await findCluster(client, engine, namespace, name);
  if (object === undefined) {
    throw new CommandError(`there is no ${engine.kind.resource.kind} ${name} in namespace ${namespace} (${cluster})`);
  }
  const document = liveDocument(object);
  return validCluster({ engine, object, document }, object, { unknown: 'prune' }) as Cluster<CommonSpec>;
}

/** The cluster as it would be once the manifest was applied: the file's spec as a whole, and what the API server keeps. */
async function intended(
  { client }: Connection,
  entry: WrittenCluster,
  namespace: string,
): Promise<{ readonly cluster: Cluster<CommonSpec>; readonly live: KubeObject | undefined }> {
  const { engine, object } = entry;
  const alone = validCluster(entry, object, { namespace });
  const live = await findCluster(client, engine, namespace, alone.metadata.name);
  const cluster = live === undefined ? alone : validCluster(entry, overlaid(object, live), { namespace, old: live });
  return { cluster: cluster as Cluster<CommonSpec>, live };
}

function overlaid(object: KubeObject, live: KubeObject): KubeObject {
  const { labels, annotations } = object.metadata;
  const metadata = {
    ...object.metadata,
    ...live.metadata,
    labels: { ...live.metadata.labels, ...labels },
    annotations: { ...live.metadata.annotations, ...annotations },
  };
  return { ...object, metadata, status: live.status };
}
