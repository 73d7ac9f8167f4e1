/**
 * Unpacks a backup into a new data directory. Recovery begins at its `backup_label` when a server starts there; where it
 * ends, and which server it follows then, is decided by the settings that it is started with.
 *
 * The directory has its name once every byte has been checked, and is on the disk. A directory that holds anything else is
 * never touched.
 */
import { access, chmod, type FileHandle, mkdir, open, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Origin } from '../../../engine/driver/driver.ts';
import { renameDurably, syncFolder, writeDurably } from '../../../engine/driver/durable.ts';
import { codeOf, Failure } from '../../../engine/driver/failure.ts';
import { pathOf } from './safe-path.ts';
import { NotTar, type TarEntry, TarReader } from './tar.ts';

/** Beside the data directory: a server would take a file within it into its own backups. */
const stagingOf = (directory: string): string => `${directory}.restoring`;
const originOf = (directory: string): string => `${directory}.restored-from.json`;

/** Made by what recovers the directory, before a server starts there: see `recover.py`. */
const recoveringOf = (directory: string): string => `${directory}.recovering`;

/** Where that has moved a recovery that it begins again, and may not have removed all of it. */
const discardedOf = (directory: string): string => `${directory}.discarded`;

/** See the destination in `schemas.ts`. */
export interface VolumePlace {
  readonly directory: string;
  readonly dataDirectory?: string | undefined;
}

/** A server that has started has renamed it. */
const label = 'backup_label';

/** Files whose contents are on their way to the disk at the same time. */
const mostOpen = 16;

/**
 * @returns whether an earlier attempt had done it
 * @throws Failure Occupied, BadTask
 */
export async function fillPostgresVolume(
  { directory, dataDirectory }: VolumePlace,
  from: Origin,
  content: () => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<{ readonly isRepeated: boolean }> {
  if (await isFilled({ directory, dataDirectory }, from)) return { isRepeated: true };
  const staging = stagingOf(directory);
  for (const left of [staging, discardedOf(directory)]) await rm(left, { recursive: true, force: true });
  try {
    await unpack(staging, content(), signal);
    await rm(recoveringOf(directory), { force: true });
    await writeDurably(`${originOf(directory)}.part`, [Buffer.from(`${JSON.stringify(from)}\n`)], signal);
    await renameDurably(`${originOf(directory)}.part`, originOf(directory));
    // Whatever was made for it is empty.
    await rmdir(directory).catch(unlessMissing);
    await renameDurably(staging, directory);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    switch (codeOf(error)) {
      case 'ENOSPC':
      case 'EDQUOT':
        throw new Failure('Unexpected', `the volume has no room for the backup in ${directory}`, { cause: error });
      case 'ENOENT':
        throw new Failure('BadTask', `destination.directory ${directory} cannot be made`, { cause: error });
      default:
        throw error;
    }
  }
  return { isRepeated: false };
}

/** Whether an earlier attempt has done it. @throws Failure Occupied: somebody else's data is there */
async function isFilled({ directory, dataDirectory }: VolumePlace, from: Origin): Promise<boolean> {
  const isFrom = await originIn(directory);
  const isSame = isFrom?.path === from.path && isFrom.plainSha256 === from.plainSha256;
  const isRecovering = isSame && (await isThere(recoveringOf(directory)));
  const entries = await entriesOf(directory);
  if (entries.length > 0 && !(isSame && (isRecovering || entries.includes(label)))) throw occupied(directory, entries);
  const moved = dataDirectory === undefined ? [] : await entriesOf(dataDirectory);
  if (moved.length > 0 && !(isRecovering && entries.length === 0)) throw occupied(dataDirectory ?? '', moved);
  return entries.length > 0 || moved.length > 0;
}

function occupied(directory: string, entries: readonly string[]): Failure {
  return new Failure('Occupied', `${directory} holds ${entries.slice(0, 5).join(', ')}: nothing is written over data`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return [];
    throw new Failure('BadTask', `destination.directory ${directory} cannot be used`, { cause });
  }
}

/** The backup that an earlier attempt has filled the directory from; undefined where none has. */
export async function begunFrom(directory: string): Promise<string | undefined> {
  return (await originIn(directory))?.path;
}

async function originIn(directory: string): Promise<Partial<Origin> | undefined> {
  try {
    const found = JSON.parse(await readFile(originOf(directory), 'utf8')) as Partial<Origin> | null;
    return typeof found?.path === 'string' ? found : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function unlessMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}

async function unpack(root: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const tar = new TarReader();
  const folders = [root];
  const closing = new Set<Promise<void>>();
  let failed: { readonly error: unknown } | undefined;
  let current: FileHandle | undefined;
  const close = async (file: FileHandle): Promise<void> => {
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  };
  /** Resolves when there is room for another file. */
  const end = async (file: FileHandle): Promise<void> => {
    const closed = close(file)
      .catch((error: unknown) => {
        failed ??= { error };
      })
      .then(() => void closing.delete(closed));
    closing.add(closed);
    if (closing.size >= mostOpen) await Promise.race(closing);
  };
  const begin = async (entry: TarEntry): Promise<void> => {
    const path = join(root, pathOf(entry));
    switch (entry.type) {
      case 'directory':
        await mkdir(path);
        // Whatever the mask of this process is: a server refuses a directory that others may write.
        await chmod(path, (entry.mode & 0o750) | 0o700);
        folders.push(path);
        return;
      case 'file':
        current = await open(path, 'wx', (entry.mode & 0o640) | 0o600);
        if (entry.size === 0) await endCurrent();
        return;
      case 'symlink':
        throw new NotTar(`${JSON.stringify(entry.name)} is a link: tablespaces are not supported`);
    }
  };
  const endCurrent = async (): Promise<void> => {
    const file = current;
    current = undefined;
    if (file !== undefined) await end(file);
  };
  try {
    await mkdir(root);
    await chmod(root, 0o700);
    for await (const piece of content) {
      signal.throwIfAborted();
      if (failed !== undefined) throw failed.error;
      for (const event of tar.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length))) {
        if (event.kind === 'entry') await begin(event.entry);
        else if (event.kind === 'data') {
          await current?.writeFile(event.raw);
          if (event.isLast) await endCurrent();
        }
      }
    }
    tar.finish();
  } catch (error) {
    throw error instanceof NotTar ? new Failure('Tampered', `the backup is not one: ${error.message}`) : error;
  } finally {
    await current?.close();
    await Promise.all(closing);
  }
  if (failed !== undefined) throw failed.error;
  // The innermost first: a folder is there for good when its own parent says so.
  for (const folder of folders.toReversed()) await syncFolder(folder);
}
