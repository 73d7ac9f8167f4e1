/** Writes a snapshot where `etcdutl snapshot restore` is to find it. It has its name once every byte has been checked. */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { renameDurably, writeDurably } from '../../../engine/driver/durable.ts';
import { codeOf, Failure } from '../../../engine/driver/failure.ts';
import { meter } from '../../../engine/driver/meter.ts';

/**
 * @returns whether an earlier attempt had done it
 * @throws Failure Occupied
 */
export async function writeSnapshot(
  file: string,
  plainSha256: string,
  content: () => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<{ readonly isRepeated: boolean }> {
  const found = await sha256Of(file);
  if (found === plainSha256) return { isRepeated: true };
  if (found !== undefined) throw new Failure('Occupied', `${file} is there: nothing is written over it`);
  const part = `${file}.part`;
  try {
    await writeDurably(part, content(), signal);
    await renameDurably(part, file);
  } catch (error) {
    await rm(part, { force: true });
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new Failure('BadTask', `destination.file ${file} cannot be written`, { cause: error });
  }
  return { isRepeated: false };
}

/** Undefined where there is no such file. */
async function sha256Of(file: string): Promise<string | undefined> {
  const { of, sha256 } = meter();
  try {
    for await (const _ of of(createReadStream(file) as AsyncIterable<Buffer>));
    return sha256();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
