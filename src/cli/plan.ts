/**
 * `clusterwright plan`: what the controller would do next about the clusters of a manifest, or about one that exists.
 *
 * It reads and never writes. Exit code 0: nothing to do; 2: something would change; 1: it could not be told.
 */
import { type AgentImageArguments, namedAgentImage } from './agent-image.ts';
import type { CliContext, Command } from './cli-context.ts';
import { allOrFaults, namespaceOf, ownClusters, validCluster } from './clusters.ts';
import { apartFromEachOther } from './conflict.ts';
import type { Target } from './connection.ts';
import { dataText, type Format } from './documents.ts';
import { expansionOffline } from './expansion.ts';
import { CommandError } from './fault.ts';
import { formerVersions } from './former.ts';
import { type ImageRegistryArguments, namedImageRegistry } from './image-registry.ts';
import { parseClusterRef } from './kinds.ts';
import { readDocuments } from './manifest-files.ts';
import type { Way } from './observation.ts';
import { type OperatorNamespaceArguments, operatorHome } from './operator-namespace.ts';
import { planLive } from './plan-live.ts';
import { planText } from './plan-text.ts';
import { offlinePreview, type Preview } from './preview.ts';
import { referredAmong } from './referral.ts';

export interface PlanArguments
  extends Pick<Target, 'kubeconfig' | 'context'>,
    AgentImageArguments,
    ImageRegistryArguments,
    OperatorNamespaceArguments {
  /** A file, a folder, `-`, or `KIND/NAME`. */
  readonly subject: string;
  readonly namespace?: string | undefined;
  readonly offline?: boolean | undefined;
  /** With `offline`: the manifest as it was before. */
  readonly from?: string | undefined;
  /** How to ask the database processes. Default `forward`. */
  readonly ask?: Way | undefined;
  readonly output?: Format | undefined;
}

export const plan: Command<PlanArguments> = async (args, cli) => {
  if (args.from !== undefined && args.offline !== true) {
    throw new CommandError('--from is for --offline: otherwise the cluster itself tells what was there before');
  }
  const previews = args.offline === true ? await planOffline(args, cli) : await planLive(args, cli);
  if (args.output === undefined) cli.stdout(previews.map(planText).join('\n'));
  else cli.stdout(dataText({ clusters: previews.map(planData) }, args.output));
  return previews.some(changesAnything) ? 2 : 0;
};

/** What only follows counts, too: of a Backup whose cluster is not there, a plan has nothing else. */
function changesAnything({ plan: { steps }, spec, follows }: Preview): boolean {
  return steps.length > 0 || spec.length > 0 || follows.length > 0;
}

function planData({ cluster, ...preview }: Preview): object {
  const { kind, metadata } = cluster;
  return { kind, namespace: metadata.namespace, name: metadata.name, ...preview };
}

async function planOffline(args: PlanArguments, cli: CliContext): Promise<readonly Preview[]> {
  const known = await cli.handlers(namedAgentImage(args, cli), {
    imageRegistry: namedImageRegistry(args, cli),
    operatorNamespace: operatorHome(args, cli),
  });
  if (parseClusterRef(known, args.subject) !== undefined) {
    throw new CommandError('--offline plans from a file; KIND/NAME is read from a cluster');
  }
  const where = { namespace: args.namespace, fallback: 'default' };
  const { clusters, notes } = ownClusters(known, await readDocuments(args.subject, cli));
  for (const note of notes) cli.stderr(`${note}\n`);
  const before = args.from === undefined ? undefined : await formerVersions(known, args.from, where, cli);
  const previews = await allOrFaults(clusters, (entry) => {
    const options = { namespace: namespaceOf(entry, where), old: before?.(entry) };
    const cluster = validCluster(entry, entry.object, options);
    const manifest = { subject: args.subject, objects: clusters.map(({ object }) => object) };
    const referred = referredAmong(known, entry.engine, cluster, manifest.objects);
    const preview = offlinePreview(entry.engine, cluster, referred, manifest);
    return { ...preview, follows: [...preview.follows, ...expansionOffline(options.old, cluster)] };
  });
  return apartFromEachOther(previews);
}
