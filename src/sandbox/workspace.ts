/**
 * Directories for work in progress, which end with the work. One that a killed process left is removed by the next.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listIfThere } from './file.ts';
import { unmountUnder } from './mount.ts';
import { processStat } from './process.ts';

const prefix = 'work-';

/** Runs `work` with a new directory inside `parent`, on the same file system as what is in it. */
export async function inWorkspace<T>(parent: string, work: (directory: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true });
  await removeLeftovers(parent);
  const directory = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await listIfThere(parent)) {
    const pid = /^work-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || (await processStat(Number(pid))) !== undefined) continue;
    await unmountUnder([join(parent, name)]);
    await rm(join(parent, name), { recursive: true, force: true });
  }
}
