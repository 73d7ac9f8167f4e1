/**
 * `clusterwright backup list`: the Backups of a namespace and the last runs of its schedules; with `--target`, what is in
 * that target instead.
 */
import { backupKind } from '../../api/backup.ts';
import { scheduleKind } from '../../api/backup-schedule.ts';
import type { BackupResult, BackupStatus, ScheduleStatus } from '../../api/backup-status.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Command } from '../cli-context.ts';
import type { Target } from '../connection.ts';
import { dataText } from '../documents.ts';
import { CommandError } from '../fault.ts';
import { kindWord } from '../kinds.ts';
import { ageText, tableText } from '../table.ts';
import { type ListTargetArguments, listTarget } from './list-target.ts';

export interface ListArguments extends Pick<Target, 'kubeconfig' | 'context'>, Omit<ListTargetArguments, 'target'> {
  readonly namespace?: string | undefined;
  /** A manifest or a directory; without it, the Backups of a namespace are listed. */
  readonly target?: string | undefined;
}

interface Row {
  /** `cwb/NAME` or `cwbs/NAME`. */
  readonly name: string;
  /** `KIND/NAME`. */
  readonly cluster: string;
  readonly phase: string;
  readonly result: BackupResult;
}

export const listBackups: Command<ListArguments> = async (args, cli) => {
  const { target, ...others } = args;
  if (target !== undefined) return listTarget({ ...others, target }, cli);
  const only = (['key', 'ca', 'id'] as const).find((option) => args[option] !== undefined);
  if (only !== undefined) throw new CommandError(`--${only} is for --target`);
  const connection = await cli.connect(args);
  try {
    const namespace = args.namespace ?? connection.namespace;
    const [backups, schedules] = await Promise.all(
      [backupKind, scheduleKind].map(({ resource }) => connection.client.list(resource, { namespace })),
    );
    const rows = [
      ...(backups?.items ?? []).map((object): Row => {
        const status = (object.status ?? {}) as BackupStatus;
        return {
          name: `${kindWord(backupKind.resource.kind)}/${object.metadata.name}`,
          cluster: clusterOf(object),
          phase: status.phase ?? '',
          result: status,
        };
      }),
      ...(schedules?.items ?? []).flatMap((object): Row[] => {
        const { results = [] } = (object.status ?? {}) as ScheduleStatus;
        const name = `${kindWord(scheduleKind.resource.kind)}/${object.metadata.name}`;
        return results.map((result) => ({ name, cluster: clusterOf(object), phase: result.outcome, result }));
      }),
    ];
    if (args.output !== undefined) cli.stdout(dataText({ backups: rows.map(dataOf) }, args.output));
    else if (rows.length > 0) cli.stdout(table(rows, cli.now()));
    else cli.stderr(`no backup in namespace ${namespace}\n`);
    return 0;
  } finally {
    await connection.close();
  }
};

function clusterOf({ spec }: KubeObject): string {
  const { cluster } = spec as { readonly cluster: { readonly kind: string; readonly name: string } };
  return `${cluster.kind.toLowerCase()}/${cluster.name}`;
}

function dataOf({ name, cluster, phase, result }: Row): object {
  const { id, location, engine, version, size, storedSize, checksum, completedAt } = result;
  return { name, cluster, phase, id, location, engine, version, size, storedSize, checksum, completedAt };
}

function table(rows: readonly Row[], now: number): string {
  return tableText(
    ['NAME', 'CLUSTER', 'PHASE', 'SIZE', 'AGE', 'ID'],
    rows.map(({ name, cluster, phase, result }) => [
      name,
      cluster,
      phase,
      result.size === undefined ? '' : String(result.size),
      ageText(result.completedAt, now),
      result.id ?? '',
    ]),
  );
}
