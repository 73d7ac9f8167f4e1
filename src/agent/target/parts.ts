/**
 * Content of unknown length, cut into parts for a multipart upload.
 *
 * An upload has 10 000 parts at most, and who takes a backup does not know how long it will be. Parts are small for as
 * long as it may still end soon, since every part on its way is held in memory: 8 MiB up to 62 GiB, then
 * 32 MiB: two of them are all that the Job's memory has room for. The longest upload has 125 GiB.
 */

import { Failure } from '../../engine/driver/failure.ts';

const mebibyte = 1024 * 1024;
export const firstPartBytes = 8 * mebibyte;
/** As S3 has it. */
const maxParts = 10_000;

/** @param index from 0 */
export function partBytes(index: number): number {
  return index < 8_000 ? firstPartBytes : 32 * mebibyte;
}

export interface Part {
  /** From 1, as S3 counts. */
  readonly number: number;
  readonly content: Buffer;
  readonly isLast: boolean;
  /** Whoever has sent it says so: its memory is used again. */
  release(): void;
}

/** At least one part, which may be empty. A full part waits for the next byte: only then is it known not to be the last. */
export async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Part, void, undefined> {
  let index = 0;
  const free: Buffer[] = [];
  const bufferOf = (bytes: number): Buffer => {
    const found = free.pop();
    return found?.length === bytes ? found : Buffer.allocUnsafeSlow(bytes);
  };
  let buffer = bufferOf(partBytes(0));
  let held = 0;
  const part = (whole: Buffer, bytes: number, isLast: boolean): Part => ({
    number: index + 1,
    content: whole.subarray(0, bytes),
    isLast,
    release: () => void free.push(whole),
  });
  for await (const piece of content) {
    let at = 0;
    while (at < piece.length) {
      if (held === buffer.length) {
        yield part(buffer, held, false);
        index += 1;
        if (index === maxParts) throw new Failure('TargetRefused', 'the backup is longer than an upload to S3 can be');
        buffer = bufferOf(partBytes(index));
        held = 0;
      }
      const taken = piece.subarray(at, at + buffer.length - held);
      buffer.set(taken, held);
      held += taken.length;
      at += taken.length;
    }
  }
  yield part(buffer, held, true);
}
