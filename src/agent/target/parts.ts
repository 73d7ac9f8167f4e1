/**
 * Content of unknown length, cut into parts for a multipart upload.
 *
 * An upload has 10 000 parts at most, and who takes a backup does not know how long it will be: parts begin at 8 MiB and
 * double with every thousand of them, up to 512 MiB, which reaches 2 TiB and costs a small backup little memory.
 */

export const firstPartBytes = 8 * 1024 * 1024;
const maxPartBytes = 512 * 1024 * 1024;
const partsOfOneSize = 1000;

/** @param index from 0 */
export function partBytes(index: number): number {
  return Math.min(maxPartBytes, firstPartBytes * 2 ** Math.floor(index / partsOfOneSize));
}

export interface Part {
  /** From 1, as S3 counts. */
  readonly number: number;
  readonly content: Buffer;
  readonly isLast: boolean;
}

/** At least one part, which may be empty. A full part waits for the next byte: only then is it known not to be the last. */
export async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Part, void, undefined> {
  let index = 0;
  let buffer = Buffer.allocUnsafe(partBytes(0));
  let held = 0;
  for await (const piece of content) {
    let at = 0;
    while (at < piece.length) {
      if (held === buffer.length) {
        yield { number: index + 1, content: buffer, isLast: false };
        index += 1;
        buffer = Buffer.allocUnsafe(partBytes(index));
        held = 0;
      }
      const taken = piece.subarray(at, at + buffer.length - held);
      buffer.set(taken, held);
      held += taken.length;
      at += taken.length;
    }
  }
  yield { number: index + 1, content: buffer.subarray(0, held), isLast: true };
}
