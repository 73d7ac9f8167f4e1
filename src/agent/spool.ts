/**
 * Data on its way, kept in the pod's own scratch space: whoever gives it is let go before whoever takes it has had a byte.
 * What is kept is what will be stored, so with a key nothing lies there in plain.
 */
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, Failure } from '../engine/driver/failure.ts';

export interface Spool {
  /** Everything that was given, from the beginning. */
  content(): AsyncIterable<Uint8Array>;
  remove(): Promise<void>;
}

const readBytes = 1024 * 1024;

/** Reads the content to its end. @throws Failure Unexpected, BadTask, and what the content fails with */
export async function spoolTo(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Spool> {
  const path = join(directory, 'spool');
  const remove = (): Promise<void> => rm(path, { force: true });
  try {
    const file = await open(path, 'w', 0o600);
    try {
      for await (const piece of content) {
        signal.throwIfAborted();
        await file.writeFile(piece);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    await remove();
    throw failureOf(error, directory);
  }
  return { content: () => createReadStream(path, { highWaterMark: readBytes }) as AsyncIterable<Uint8Array>, remove };
}

function failureOf(error: unknown, directory: string): unknown {
  if (error instanceof Failure) return error;
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new Failure('Unexpected', `there is no room for the data in ${directory} of the pod`, { cause: error });
    case 'ENOENT':
    case 'EACCES':
    case 'EROFS':
      return new Failure('BadTask', `scratchDirectory ${directory} cannot be used`, { cause: error });
    default:
      return error;
  }
}
