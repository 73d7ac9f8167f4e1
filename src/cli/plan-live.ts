/** Plans against a cluster: of the clusters of a manifest as they are meant, or of one as it is there. */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import { inRegistry } from '../api/image.ts';
import { labelSelector, labelSelectorFault } from '../api/label-selector.ts';
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { KindHandler } from '../engine/engine.ts';
import { defaultAgentImage } from '../jobs/agent-pod.ts';
import { deletionSpec, invalidSpec, maintenanceSpec } from '../runtime/partial-spec.ts';
import { type AgentImageArguments, namedAgentImage } from './agent-image.ts';
import type { CliContext } from './cli-context.ts';
import { allOrFaults, invalid, namespaceOf, ownClusters, validCluster, type WrittenCluster } from './clusters.ts';
import { apartFromEachOther, withoutTakeover } from './conflict.ts';
import type { Connection, Target } from './connection.ts';
import { CommandError } from './fault.ts';
import { type ImageRegistryArguments, namedImageRegistry } from './image-registry.ts';
import { type InstalledOperator, installedOperator } from './installed-operator.ts';
import { type ClusterRef, parseClusterRef } from './kinds.ts';
import { findCluster, liveDocument } from './live.ts';
import type { ManifestDocument } from './manifest.ts';
import { readDocuments } from './manifest-files.ts';
import type { Way } from './observation.ts';
import { type OperatorNamespaceArguments, operatorHome } from './operator-namespace.ts';
import { invalidPreview, type LiveOptions, livePreview, type Preview } from './preview.ts';
import { aboutOf, findReferred } from './referral.ts';
import { specChanges } from './spec-change.ts';

export interface LiveArguments
  extends Pick<Target, 'kubeconfig' | 'context'>,
    AgentImageArguments,
    ImageRegistryArguments,
    OperatorNamespaceArguments {
  /** A file, a folder, `-`, or `KIND/NAME`. */
  readonly subject: string;
  readonly namespace?: string | undefined;
  /** How to ask the database processes. Default `forward`. */
  readonly ask?: Way | undefined;
}

export async function planLive(args: LiveArguments, cli: CliContext): Promise<readonly Preview[]> {
  const kinds = await cli.handlers();
  const home = operatorHome(args, cli);
  const documents = parseClusterRef(kinds, args.subject) === undefined ? await readable(args.subject, kinds, cli) : [];
  const connection = await cli.connect(args).catch((cause: Error) => {
    if (documents.length === 0) throw cause;
    throw new CommandError(`${cause.message}\nWithout a cluster, --offline plans a file as if nothing of it existed.`, {
      cause,
    });
  });
  try {
    const { client, forward } = connection;
    const installed = await installedOperator(client, home);
    const image = namedAgentImage(args, cli) ?? installed?.agentImage;
    const registry = namedImageRegistry(args, cli) ?? installed?.imageRegistry;
    const known = await cli.handlers(image, { imageRegistry: registry, operatorNamespace: home });
    const dryRuns = installed?.dryRuns ?? true;
    const options: LiveOptions = { client, forward, dial: cli.dial, way: args.ask ?? 'forward', dryRuns };
    const ref = parseClusterRef(known, args.subject);
    const namespace = args.namespace ?? connection.namespace;
    const previews =
      ref === undefined
        ? await ofDocuments(documents, known, connection, options, args.namespace)
        : [await previewOf(ref, namespace, known, { ...options, cluster: connection.cluster })];
    const standIn = inRegistry(defaultAgentImage, registry);
    if (image === undefined && previews.some(showing(standIn))) {
      cli.stderr(
        `${standIn} stands for the operator's image, which cannot be told from here; --agent-image names it\n`,
      );
    }
    for (const note of notServed(previews, installed, home)) cli.stderr(`${note}\n`);
    return previews;
  } finally {
    await connection.close();
  }
}

/** A manifest that cannot be read needs no cluster to say so. */
async function readable(
  file: string,
  kinds: readonly KindHandler[],
  cli: CliContext,
): Promise<readonly ManifestDocument[]> {
  const documents = await readDocuments(file, cli);
  for (const note of ownClusters(kinds, documents).notes) cli.stderr(`${note}\n`);
  return documents;
}

/** What the installed operator does not do, since the resources are not its own. */
function notServed(previews: readonly Preview[], installed: InstalledOperator | undefined, home: string): string[] {
  const { namespaces = [], resourceSelector: text } = installed ?? {};
  const selector = text === undefined || labelSelectorFault(text) !== undefined ? undefined : labelSelector(text);
  const reasonOf = ({ namespace, labels }: ObjectMeta): string | undefined => {
    if (namespaces.length > 0 && !namespaces.includes(namespace ?? '')) {
      return `is in the namespace ${namespace}, which the operator in ${home} does not watch`;
    }
    if (selector === undefined || selector.matches(labels)) return undefined;
    return `has no labels that match ${text}, the label selector of the operator in ${home}`;
  };
  return previews.flatMap(({ cluster: { kind, metadata } }) => {
    const reason = reasonOf(metadata);
    return reason === undefined ? [] : [`${kind}/${metadata.name} ${reason}: that operator leaves it alone`];
  });
}

const showing =
  (image: string) =>
  ({ plan }: Preview): boolean =>
    JSON.stringify(plan.steps).includes(JSON.stringify(image));

/** Of one cluster as it is there: what the next pass would do. `cluster`: what that Kubernetes is called in messages. */
export async function previewOf(
  ref: ClusterRef,
  namespace: string,
  known: readonly KindHandler[],
  options: LiveOptions & Pick<Connection, 'cluster'>,
): Promise<Preview> {
  const { engine } = ref;
  const object = await existing(options, ref, namespace);
  const verdict = validateCluster(engine.kind, object, { unknown: 'prune' });
  if (verdict.ok) return ofCluster(verdict.cluster as Cluster<CommonSpec>, engine, known, options);
  const last = object.metadata.deletionTimestamp === undefined ? undefined : deletionSpec(engine.kind, object);
  if (last !== undefined) return ofCluster(last, engine, known, options);
  const legible = maintenanceSpec(engine, object);
  const outcome = invalidSpec(verdict.violations);
  const preview = legible === undefined ? undefined : await invalidPreview(engine, legible, outcome, options);
  if (preview === undefined) throw invalid(liveDocument(object), verdict.violations);
  return withoutTakeover(preview, options);
}

async function ofCluster(
  cluster: Cluster<CommonSpec>,
  engine: KindHandler,
  known: readonly KindHandler[],
  options: LiveOptions,
  before?: KubeObject,
): Promise<Preview> {
  const changes = before === undefined ? [] : specChanges(cluster.spec, before.spec);
  const referred = await findReferred(options.client, known, engine, cluster);
  const about = await aboutOf(options.client, known, engine, cluster);
  return withoutTakeover(await livePreview(engine, cluster, changes, options, referred, about), options);
}

async function ofDocuments(
  documents: readonly ManifestDocument[],
  known: readonly KindHandler[],
  connection: Connection,
  options: LiveOptions,
  namespace: string | undefined,
): Promise<readonly Preview[]> {
  const previews = await allOrFaults(ownClusters(known, documents).clusters, async (entry) => {
    const where = namespaceOf(entry, { namespace, fallback: connection.namespace });
    const { cluster, live } = await intended(connection, entry, where);
    return ofCluster(cluster, entry.engine, known, options, live);
  });
  return apartFromEachOther(previews);
}

async function existing(
  { client, cluster }: Pick<Connection, 'client' | 'cluster'>,
  { engine, name }: ClusterRef,
  namespace: string,
): Promise<KubeObject> {
  const object = await findCluster(client, engine, namespace, name);
  if (object === undefined) {
    throw new CommandError(`there is no ${engine.kind.resource.kind} ${name} in namespace ${namespace} (${cluster})`);
  }
  return object;
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
  return { cluster: asEdited(cluster as Cluster<CommonSpec>, live), live };
}

/** The API server counts a change of the spec. */
function asEdited(cluster: Cluster<CommonSpec>, live: KubeObject | undefined): Cluster<CommonSpec> {
  const { generation } = live?.metadata ?? {};
  if (generation === undefined || isDeepStrictEqual(cluster.spec, live?.spec)) return cluster;
  return { ...cluster, metadata: { ...cluster.metadata, generation: generation + 1 } };
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
