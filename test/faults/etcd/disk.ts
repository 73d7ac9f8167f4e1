/**
 * What a member keeps in its data directory: who it is, what it has promised, and the log. It outlives the process, and
 * what only it held is gone with it.
 */
import type { Volume } from '../world/workload.ts';
import { changesMembership, type Entry } from './entry.ts';
import { StateMachine } from './state-machine.ts';

export interface Disk {
  readonly clusterId: string;
  readonly memberId: string;
  term: number;
  /** For whom it voted in that term. */
  vote: string | undefined;
  /** The entry with index i is at i - 1. */
  readonly log: Entry[];
  /** Index up to which the entries are agreed on, as far as it knows. */
  commit: number;
  state: StateMachine;
  /** Bytes of the database's file, which never becomes smaller by itself. */
  fileBytes: number;
  /** Minor version that its form is of; undefined until that has been written down. */
  storageMinor?: number;
  /** Somebody has written over it. */
  damage?: 'log' | 'database';
  /** In which way its keys are not what was agreed on: see `corruption.ts`. */
  flaw?: string;
}

/** Name of the data directory on the volume. */
const directory = 'data';

export function blankDisk(clusterId: string, memberId: string): Disk {
  const state = new StateMachine();
  return { clusterId, memberId, term: 0, vote: undefined, log: [], commit: 0, state, fileBytes: state.bytesInUse };
}

export function diskOn(volume: Volume | undefined): Disk | undefined {
  return volume?.get(directory) as Disk | undefined;
}

export function keep(volume: Volume, disk: Disk): void {
  volume.set(directory, disk);
}

export function lastTerm({ log }: Disk): number {
  return log.at(-1)?.term ?? 0;
}

/** Whether one log is at least as recent as another: only then may its member lead. */
export function isAsRecent(candidate: Disk, voter: Disk): boolean {
  const [a, b] = [lastTerm(candidate), lastTerm(voter)];
  return a > b || (a === b && candidate.log.length >= voter.log.length);
}

/** A change of the membership that is not carried out yet. */
export function pendingChange({ log, state }: Disk): boolean {
  return log.slice(state.applied).some(({ change }) => changesMembership(change));
}

/**
 * Takes over a leader's entries, so many at a time; resolves with the index up to which both are the same. `lost` is told
 * when something goes that was agreed on: a real process ends in a panic there, or has forgotten it before.
 */
export function takeOver(disk: Disk, from: readonly Entry[], most: number, lost: () => void): number {
  const { log } = disk;
  let same = Math.min(log.length, from.length);
  while (same > 0 && log[same - 1] !== from[same - 1]) same--;
  if (from.length > same && log.length > same) {
    if (same < disk.commit) {
      lost();
      disk.commit = same;
      disk.state = new StateMachine();
    }
    log.length = same;
  }
  if (from.length === same) return same;
  log.push(...from.slice(same, same + most));
  return log.length;
}
