/** `clusterwright status`: what the controller last said about clusters, from their custom resources alone. */
import type { Cluster } from '../api/cluster.ts';
import type { Command } from './cli-context.ts';
import type { Target } from './connection.ts';
import { dataText, type Format } from './documents.ts';
import { CommandError } from './fault.ts';
import { namesOf, parseClusterRef } from './kinds.ts';
import { findCluster, listClusters } from './live.ts';
import { statusDetail, statusTable } from './status-text.ts';

export interface StatusArguments extends Pick<Target, 'kubeconfig' | 'context'> {
  /** `KIND/NAME`; without it, all clusters of the namespace. */
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
  readonly allNamespaces?: boolean | undefined;
  readonly output?: Format | undefined;
}

export const status: Command<StatusArguments> = async (args, cli) => {
  const { cluster: wanted, allNamespaces = false, output } = args;
  const engines = await cli.handlers();
  const ref = wanted === undefined ? undefined : parseClusterRef(engines, wanted);
  if (wanted !== undefined && ref === undefined) {
    const kinds = engines.flatMap(namesOf).filter((name) => !name.includes('.'));
    throw new CommandError(`${wanted} is not KIND/NAME; KIND is one of ${kinds.join(', ')}`);
  }
  const connection = await cli.connect(args);
  try {
    const namespace = args.namespace ?? connection.namespace;
    if (ref !== undefined) {
      const found = await findCluster(connection.client, ref.engine, namespace, ref.name);
      if (found === undefined) {
        const what = `${ref.engine.kind.resource.kind} ${ref.name} in namespace ${namespace}`;
        throw new CommandError(`there is no ${what} (${connection.cluster})`);
      }
      const cluster = found as Cluster;
      cli.stdout(output === undefined ? statusDetail(cluster, cli.now()) : dataText(statusData(cluster), output));
      return 0;
    }
    const lists = await Promise.all(
      engines.map((engine) => listClusters(connection.client, engine, allNamespaces ? undefined : namespace)),
    );
    const clusters = lists.flat() as Cluster[];
    if (output !== undefined) cli.stdout(dataText({ clusters: clusters.map(statusData) }, output));
    else if (clusters.length > 0) cli.stdout(statusTable(clusters, cli.now(), allNamespaces));
    else cli.stderr(`no cluster in ${allNamespaces ? 'any namespace' : `namespace ${namespace}`}\n`);
    return 0;
  } finally {
    await connection.close();
  }
};

function statusData({ kind, metadata, status: said = {} }: Cluster): object {
  return { kind, namespace: metadata.namespace, name: metadata.name, generation: metadata.generation, status: said };
}
