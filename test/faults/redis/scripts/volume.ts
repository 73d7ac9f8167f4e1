/** `volume.sh`, step by step. */
import { fieldOf, linesOf, localCli, nodeCli, type PodShell } from './pod-shell.ts';

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
  /** In which term it was primary, or whose replica. */
  term(): string;
  setTerm(term: string): void;
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

/** The primary at this address is this very node, from before it got another one. */
export async function wasHere(shell: PodShell, address: string): Promise<boolean> {
  return shell.disk.mark() === address && linesOf(await nodeCli(shell, address, 'role'))[0] !== 'master';
}

/** It holds less than a primary that lives. */
export async function fallBehind(shell: PodShell): Promise<void> {
  shell.run.set('behind', shell.uptime());
  await localCli(shell, 'config', 'set', 'replica-priority', '0');
}

async function settleBehind(shell: PodShell, { info, isStale }: Look): Promise<void> {
  if (fieldOf(info, 'master_sync_in_progress') === '1') return fallBehind(shell);
  if (isStale || !shell.run.has('behind')) return;
  if (shell.run.get('behind') === '') return fallBehind(shell);
  if (shell.uptime() - Number(shell.run.get('behind')) <= 180_000) return;
  const answer = await localCli(shell, 'config', 'set', 'replica-priority', '100');
  if (answer !== undefined) shell.run.delete('behind');
}

/** This server has loaded a copy, and is not at another. */
function hadLink(info: Look['info']): boolean {
  const isOver = ['loading', 'master_sync_in_progress'].every((name) => fieldOf(info, name) === '0');
  return isOver && /^\d/.test(fieldOf(info, 'master_link_down_since_seconds'));
}

/** True where the append-only file holds the dataset. */
export async function settleMark(shell: PodShell, seen: Look): Promise<boolean> {
  const { info, at, isStale, isDue } = seen;
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
  if (enabled !== '1' || !(isSettled || (isStale && hadLink(info)))) {
    await settleBehind(shell, seen);
    return false;
  }
  const isWritten = fieldOf(info, 'aof_rewrite_in_progress') === '0' && fieldOf(info, 'aof_rewrite_scheduled') === '0';
  if (isStale && !isWritten) {
    disk.dropMark();
    return false;
  }
  if (isDue) disk.setMark(at);
  if (isStale) await localCli(shell, 'config', 'set', 'replica-priority', '100');
  if (disk.isOvertaken()) return false;
  if (shell.run.has('behind')) {
    const isElectable = isStale || (await localCli(shell, 'config', 'set', 'replica-priority', '100')) !== undefined;
    if (isElectable) shell.run.delete('behind');
  }
  return true;
}

export const termCarrier = 'cluster-announce-hostname';

/** 0 for what is no term. */
function numberOf(term: string): number {
  const digits = term.slice(term.indexOf('-') + 1);
  return /^[0-9]+$/.test(digits) ? Number(digits) : 0;
}

export async function settleTerm(shell: PodShell, { info }: Look): Promise<void> {
  if (info.every((line) => line === '')) return;
  const { disk } = shell;
  const lastLine = (text: string | undefined): string => (text ?? '').replaceAll('\r', '').split('\n').at(-1) ?? '';
  const written = disk.term();
  const told = lastLine(await localCli(shell, 'config', 'get', termCarrier));
  let term = numberOf(told) > numberOf(written) ? told : written;
  const role = `${fieldOf(info, 'role')}:${fieldOf(info, 'master_link_status')}`;
  if (role.startsWith('master:')) {
    if (!term.startsWith('primary-')) term = `primary-${numberOf(term) + 1}`;
  } else if (role === 'slave:up') {
    const theirs = lastLine(await nodeCli(shell, fieldOf(info, 'master_host'), 'config', 'get', termCarrier));
    const number = theirs.startsWith('primary-') ? Math.max(numberOf(theirs), numberOf(term)) : numberOf(term);
    if (number > 0) term = `replica-${number}`;
  }
  if (term !== '' && term !== written) disk.setTerm(term);
  if (term !== '' && term !== told) await localCli(shell, 'config', 'set', termCarrier, term);
}
