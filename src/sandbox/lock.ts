/**
 * One command at a time changes the sandbox. The lock names its holder, so that one left by a command that was killed
 * is known for what it is.
 */
import { rm, writeFile } from 'node:fs/promises';
import { codeOf } from './error.ts';
import { readIfThere } from './file.ts';
import { type Layout, paths } from './layout.ts';
import { processStat } from './process.ts';
import type { Progress } from './progress.ts';
import { waitFor } from './wait.ts';

/** A first start compiles for a quarter of an hour on a small machine. */
const patience = 45 * 60_000;

/** Runs `work` alone; waits, and says so, while another command is at work. */
export async function exclusively<T>(layout: Layout, progress: Progress, work: () => Promise<T>): Promise<T> {
  const { lock } = paths(layout);
  const own = `${process.pid} ${(await processStat(process.pid))?.startTime}`;
  const holder = await take(lock, own);
  if (holder !== undefined) {
    await progress.step(`Waiting for another sandbox command (pid ${holder})`, async () => {
      const taken = async (): Promise<true | undefined> => ((await take(lock, own)) === undefined ? true : undefined);
      await waitFor('the other sandbox command to end', taken, { timeout: patience, interval: 200 });
    });
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Takes the lock, or returns the pid of its living holder. */
async function take(lock: string, own: string): Promise<string | undefined> {
  for (;;) {
    try {
      await writeFile(lock, own, { flag: 'wx' });
      return undefined;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const [pid = '', startTime] = ((await readIfThere(lock)) ?? '').split(' ');
    const stat = await processStat(Number(pid));
    if (stat !== undefined && stat.startTime === startTime) return pid;
    await rm(lock, { force: true });
  }
}
