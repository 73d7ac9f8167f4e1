/** Files that may not be there. Any other failure to reach them is thrown. */
import { access, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { codeOf } from './error.ts';

export async function isThere(path: string): Promise<boolean> {
  return (await unlessMissing(access(path).then(() => true))) ?? false;
}

export async function readIfThere(path: string): Promise<string | undefined> {
  return await unlessMissing(readFile(path, 'utf8'));
}

/** The names in a directory; none where there is no such directory. */
export async function listIfThere(path: string): Promise<readonly string[]> {
  return (await unlessMissing(readdir(path))) ?? [];
}

/** Where a symbolic link points; undefined for what is no link, or not there. */
export async function linkTarget(path: string): Promise<string | undefined> {
  return await unlessMissing(readlink(path), ['EINVAL']);
}

/** Another one once the path holds another file; undefined where there is none. */
export async function versionOf(path: string): Promise<string | undefined> {
  return await unlessMissing(stat(path, { bigint: true }).then(({ ino, ctimeNs }) => `${ino} ${ctimeNs}`));
}

/** ENODEV and ESRCH: a file of the kernel's whose process or cgroup has just gone. */
const missing = ['ENOENT', 'ENOTDIR', 'ENODEV', 'ESRCH'];

async function unlessMissing<T>(reading: Promise<T>, also: readonly string[] = []): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ([...missing, ...also].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}
