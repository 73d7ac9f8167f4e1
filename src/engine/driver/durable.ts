/**
 * Files that are on the disk, and not only in the machine's memory, once the promise resolves. A process may be killed at any
 * time: whoever reads a file that was not renamed into its place may find half of it.
 */
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes everything, or leaves an incomplete file behind and fails. What was there under this name is gone as soon as it begins.
 * The content is on the disk then, the name of a new file only after `syncFolder` or `renameDurably` in its folder.
 */
export async function writeDurably(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, 'w', 0o640);
  try {
    for await (const piece of content) {
      signal.throwIfAborted();
      await file.writeFile(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A file or folder takes its name, for good. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
