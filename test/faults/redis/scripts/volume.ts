/** `volume.sh`, step by step. */
import { fieldOf, linesOf, localCli, type PodShell } from './pod-shell.ts';

/** What the scripts see of a data volume. */
export interface DataVolume {
  /** This node's address when the append-only file held its dataset last; undefined where it does not. */
  mark(): string | undefined;
  /** Dated `at`, of the clock of `now`. */
  setMark(at: number): void;
  dropMark(): void;
  /** Whether the traces of a copy are newer than the mark. */
  isOvertaken(): boolean;
  /** Times of before mean nothing any more. */
  forgetTimes(): void;
  now(): number;
}

/** Before the server starts. */
export function judgeVolume({ disk }: PodShell): void {
  if (disk.isOvertaken()) disk.dropMark();
  disk.forgetTimes();
}

export interface Look {
  readonly info: readonly string[];
  readonly at: number;
  readonly isStale: boolean;
  readonly isDue: boolean;
}

export async function look(shell: PodShell): Promise<Look> {
  const { disk, podIP } = shell;
  const isStale = disk.mark() === undefined || disk.isOvertaken();
  const isDue = isStale || disk.mark() !== podIP;
  const at = disk.now();
  return { info: linesOf(await localCli(shell, 'info')), at, isStale, isDue };
}

/** True where the append-only file holds the dataset. */
export async function settleMark(shell: PodShell, { info, at, isStale, isDue }: Look): Promise<boolean> {
  const { disk } = shell;
  const role = `${fieldOf(info, 'role')}:${fieldOf(info, 'master_link_status')}`;
  const isSettled = role.startsWith('master:') || role === 'slave:up';
  const enabled = fieldOf(info, 'aof_enabled');
  if (enabled === '0') {
    disk.dropMark();
    if (isSettled) await localCli(shell, 'config', 'set', 'appendonly', 'yes');
    else await localCli(shell, 'config', 'set', 'replica-priority', '0');
    return false;
  }
  if (enabled !== '1' || !isSettled) return false;
  const isWritten = fieldOf(info, 'aof_rewrite_in_progress') === '0' && fieldOf(info, 'aof_rewrite_scheduled') === '0';
  if (isStale && !isWritten) {
    disk.dropMark();
    return false;
  }
  if (isDue) disk.setMark(at);
  if (isStale) await localCli(shell, 'config', 'set', 'replica-priority', '100');
  return !disk.isOvertaken();
}
