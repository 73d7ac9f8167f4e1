/** A backup that holds suddenly little is thought wrong until a person says that it is as it should be: by its id, in an annotation. */
import type { ObjectMeta } from '../api/object.ts';
import type { TakeTask } from '../backup/agent-task.ts';
import { timeOfId } from '../backup/id.ts';

/** On a BackupSchedule, or on a cluster whose last backup it is. Set by a person. */
export const confirmedAnnotation = 'clusterwright.dev/confirmed-backup';

export function isConfirmed({ annotations }: ObjectMeta, id: string | undefined): boolean {
  return id !== undefined && annotations?.[confirmedAnnotation] === id;
}

/** What is no id confirms nothing. */
export function confirmedBy({ annotations }: ObjectMeta): Pick<TakeTask, 'confirmed'> {
  const id = annotations?.[confirmedAnnotation];
  return id !== undefined && timeOfId(id) !== undefined ? { confirmed: id } : {};
}
