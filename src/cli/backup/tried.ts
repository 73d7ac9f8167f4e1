/**
 * Which backup a drill is of: that of a Backup, or one that a BackupSchedule took. A schedule remembers its last runs, and
 * its last good one however long ago that was; what is older is in the target alone.
 */
import { type BackupSpec, backupKind } from '../../api/backup.ts';
import { scheduleKind } from '../../api/backup-schedule.ts';
import type { BackupResult, BackupStatus, ScheduleStatus } from '../../api/backup-status.ts';
import type { KubeObject } from '../../api/object.ts';
import type { KindHandler } from '../../engine/engine.ts';
import type { KubeClient } from '../../runtime/client.ts';
import { CommandError } from '../fault.ts';
import { parseClusterRef } from '../kinds.ts';
import { findCluster } from '../live.ts';

/** What a Backup and a BackupSchedule say alike: of which cluster, where it is kept, which key. */
export interface Tried extends Pick<BackupSpec, 'cluster' | 'target' | 'encryption'> {
  readonly id: string;
  readonly result: BackupResult;
  /** Of the object. */
  readonly name: string;
}

interface Wanted {
  readonly kind: typeof backupKind;
  readonly name: string;
}

/**
 * @param text name of a Backup, `cwb/NAME` or `cwbs/NAME` as `backup list` has them, `schedule/NAME`, or with any other name of the kind
 * @param id one of the runs that the schedule remembers; default its last good one
 * @throws CommandError where there is no such backup, or where it is not verified
 */
export async function findTried(
  client: Pick<KubeClient, 'get'>,
  engines: readonly KindHandler[],
  namespace: string,
  text: string,
  id: string | undefined,
): Promise<Tried> {
  const { kind, name } = wantedOf(engines, text);
  const engine = engines.find((each) => each.kind === kind);
  const found = engine && (await findCluster(client, engine, namespace, name));
  const title = `${kind.resource.kind} ${name}`;
  if (found === undefined) throw new CommandError(`there is no ${title} in namespace ${namespace}${hint(text)}`);
  const result = kind === backupKind ? ofBackup(found, id) : ofSchedule(found, id);
  if (result.id === undefined) throw new CommandError(`${title} does not say where its backup is`);
  const { cluster, target, encryption } = found.spec as Pick<BackupSpec, 'cluster' | 'target' | 'encryption'>;
  return { cluster, target, ...(encryption === undefined ? {} : { encryption }), id: result.id, result, name };
}

function wantedOf(engines: readonly KindHandler[], text: string): Wanted {
  if (!text.includes('/')) return { kind: backupKind, name: text };
  const [word, ...name] = text.split('/');
  const ref = parseClusterRef(engines, word === 'schedule' ? [scheduleKind.singular, ...name].join('/') : text);
  const kind = [backupKind, scheduleKind].find((each) => each === ref?.engine.kind);
  if (ref !== undefined && kind !== undefined) return { kind, name: ref.name };
  throw new CommandError(`${text} is neither the name of a Backup nor schedule/NAME`);
}

/** Somebody may have read the name of a schedule off the list. */
const hint = (text: string): string => (text.includes('/') ? '' : '; what a schedule took is tried as schedule/NAME');

function ofBackup({ metadata: { name }, status }: KubeObject, id: string | undefined): BackupResult {
  if (id !== undefined) throw new CommandError('--id is for what a schedule took: a Backup is one backup');
  const said = (status ?? {}) as BackupStatus;
  if (said.phase === 'Verified') return said;
  throw new CommandError(`backup ${name} is ${said.phase ?? 'new'}: only one that is Verified can be tried`);
}

function ofSchedule({ metadata: { name }, status }: KubeObject, id: string | undefined): BackupResult {
  const { lastSuccess, results = [] } = (status ?? {}) as ScheduleStatus;
  if (id === undefined) {
    if (lastSuccess !== undefined) return lastSuccess;
    throw new CommandError(`schedule ${name} has no verified backup yet`);
  }
  const run = [...results, ...(lastSuccess === undefined ? [] : [lastSuccess])].find((each) => each.id === id);
  if (run === undefined) {
    throw new CommandError(`schedule ${name} remembers no backup ${id}; backup list shows those that it does`);
  }
  if (run.outcome === 'Verified') return run;
  throw new CommandError(`backup ${id} of schedule ${name} is ${run.outcome}: only one that is Verified can be tried`);
}
