/** `clusterwright backup create`: a Backup of a cluster, to where that cluster's own spec or a schedule of it says. */
import { backupKind } from '../../api/backup.ts';
import { scheduleKind } from '../../api/backup-schedule.ts';
import type { BackupPlace, Cluster, CommonSpec } from '../../api/cluster.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { Command } from '../cli-context.ts';
import type { Connection, Target } from '../connection.ts';
import { CommandError } from '../fault.ts';
import { parseClusterRef } from '../kinds.ts';
import { findCluster } from '../live.ts';
import { carriedLabels } from './carried-labels.ts';
import { resourceOfOwn } from './own-resource.ts';
import { waitForBackup } from './waiting.ts';

export interface CreateArguments extends Pick<Target, 'kubeconfig' | 'context'> {
  /** `KIND/NAME`. */
  readonly cluster: string;
  readonly namespace?: string | undefined;
  /** Of the Backup. Default: the cluster's with the time. */
  readonly name?: string | undefined;
  readonly wait: boolean;
}

export const createBackup: Command<CreateArguments> = async (args, cli) => {
  const engines = await cli.handlers();
  const ref = parseClusterRef(engines, args.cluster);
  if (ref?.engine.backup === undefined) throw new CommandError(`${args.cluster} is not KIND/NAME of a database`);
  const connection = await cli.connect({ ...args, resourceOf: (object) => resourceOfOwn(engines, object) });
  try {
    const namespace = args.namespace ?? connection.namespace;
    const { kind } = ref.engine.kind.resource;
    const found = await findCluster(connection.client, ref.engine, namespace, ref.name);
    if (found === undefined) {
      throw new CommandError(`there is no ${kind} ${ref.name} in namespace ${namespace} (${connection.cluster})`);
    }
    const { target, encryption } = await placeFor(connection, found as Cluster<CommonSpec>);
    const name = args.name ?? defaultName(ref.name, cli.now());
    const { resource } = backupKind;
    await connection.client.create({
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name, namespace, ...carriedLabels(found) },
      spec: { cluster: { kind, name: ref.name }, target, ...(encryption === undefined ? {} : { encryption }) },
    });
    if (!args.wait) {
      cli.stdout(`${name}\n`);
      return 0;
    }
    cli.stderr(`backup ${name} is being taken\n`);
    const { id = '', location = '' } = await waitForBackup(connection.client, namespace, name);
    cli.stdout(`${name}: verified, ${id} in ${location}\n`);
    return 0;
  } finally {
    await connection.close();
  }
};

/** The place that is written down: in the cluster itself, or else in the only schedule of it. */
async function placeFor({ client }: Connection, cluster: Cluster<CommonSpec>): Promise<BackupPlace> {
  const { backup } = cluster.spec;
  if (backup !== undefined) return backup;
  const { namespace, name } = cluster.metadata;
  const { items } = await client.list(scheduleKind.resource, { namespace });
  const specs = items
    .map(
      ({ spec }: KubeObject) =>
        spec as BackupPlace & { readonly cluster: { readonly kind: string; readonly name: string } },
    )
    .filter(({ cluster: about }) => about.kind === cluster.kind && about.name === name);
  const [only, other] = specs;
  if (only !== undefined && other === undefined) return only;
  throw new CommandError(
    `${cluster.kind} ${name} has no spec.backup, and ${only === undefined ? 'no schedule' : 'several schedules'} to take a target from; a manifest of a Backup names one`,
  );
}

function defaultName(cluster: string, now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${cluster.slice(0, 24)}-${time}`;
}
