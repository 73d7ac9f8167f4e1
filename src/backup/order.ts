/**
 * Which backup of a cluster is newer: decided by a number in its manifest, and by no clock.
 *
 * Each backup has the highest number of those before it, plus one. Manifests of format 1 have none: they come before all
 * that have one, and among themselves they are ordered by their ids, which begin with the time of whoever took them.
 */
import { timeOfId } from './id.ts';

export interface Placed {
  readonly id: string;
  readonly sequence?: number;
  /** When the target says that it was written; milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** A clock that is this far from another one is wrong. */
export const clockToleranceMs = 3600 * 1000;

/** For a sort that puts the newest first. */
export function newestFirst(a: Omit<Placed, 'modifiedAt'>, b: Omit<Placed, 'modifiedAt'>): number {
  const apart = (b.sequence ?? 0) - (a.sequence ?? 0);
  return apart !== 0 ? apart : a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

export function nextSequence(backups: readonly Pick<Placed, 'sequence'>[]): number {
  return backups.reduce((highest, { sequence = 0 }) => Math.max(highest, sequence), 0) + 1;
}

/**
 * In words, why it is not certain which backup is the newest; undefined where it is. Only a backup without a number
 * leaves room for doubt: where the target received it clearly after the one that counts as the newest.
 *
 * @param backups of one cluster, newest first
 */
export function doubtAboutNewest([newest, ...others]: readonly Placed[], now: number): string | undefined {
  if (newest === undefined) return undefined;
  const other = others.find(
    ({ id, sequence, modifiedAt }) =>
      sequence === undefined &&
      modifiedAt > newest.modifiedAt + clockToleranceMs &&
      // By its own name it was taken in the future, or before: that clock was wrong.
      (newest.sequence === undefined || (id > newest.id && (timeOfId(id) ?? 0) <= now + clockToleranceMs)),
  );
  if (other === undefined) return undefined;
  const by = newest.sequence === undefined ? 'its id' : 'its number';
  return `${newest.id} is the newest by ${by}, and ${other.id} reached the target later`;
}

/**
 * Ids that are later than the id of a backup that was taken after them: the clock of whoever took them was ahead, or the
 * other one was behind. To the id, the newest of those that were taken after it.
 *
 * @param backups of one cluster, newest first
 */
export function misleadingIds(backups: readonly Placed[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let lowest: string | undefined;
  for (const { id } of backups) {
    if (lowest !== undefined && id > lowest) found.set(id, lowest);
    if (lowest === undefined || id < lowest) lowest = id;
  }
  return found;
}
