/** CPU time and memory of a process, as the kernel counts them. */
import { readFile } from 'node:fs/promises';

export interface Usage {
  /** User and system time so far. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** Linux counts in hundredths of a second, whatever the kernel's own tick is. */
const ticksPerSecond = 100;

/** The program's name comes second, in parentheses, and may itself hold spaces and parentheses. */
export function cpuSecondsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function rssBytesOf(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Rejects when there is no such process. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  return { cpuSeconds: cpuSecondsOf(stat), rssBytes: rssBytesOf(status) };
}

/** Of several processes together; those that cannot be read count as nothing, and of none it is undefined. */
export async function cpuSecondsOfAll(pids: readonly number[]): Promise<number | undefined> {
  if (pids.length === 0) return undefined;
  const all = await Promise.all(pids.map(usageOf));
  return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}
