/** Mounts below the sandbox's directories: what is there, and how it goes. */
import { readFile } from 'node:fs/promises';
import { attempt } from './command.ts';

/** Unmounts everything below the directories, the innermost first. */
export async function unmountUnder(directories: readonly string[]): Promise<void> {
  const mounts = await mountPoints(directories);
  // Mounts may go by themselves meanwhile; what counts is what is left.
  if (mounts.length > 0) await attempt('umount', ['--lazy', ...mounts]);
  const left = await mountPoints(directories);
  if (left.length > 0) await attempt('umount', ['--lazy', ...left]);
}

/** The mount points below the directories in the text of `mountinfo`, the last mounted first. */
export function mountsUnder(mountinfo: string, directories: readonly string[]): readonly string[] {
  const points = mountinfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  const unescaped = points.map((point) =>
    point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
  );
  return unescaped.filter((point) => directories.some((directory) => point.startsWith(`${directory}/`))).toReversed();
}

/** The mount points below the directories now, the last mounted first. */
export async function mountPoints(directories: readonly string[]): Promise<readonly string[]> {
  return mountsUnder(await readFile('/proc/self/mountinfo', 'utf8'), directories);
}
