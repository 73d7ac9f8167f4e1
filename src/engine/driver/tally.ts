/** How many bytes went by, and their SHA-256. */
import { createHash } from 'node:crypto';

export interface Tally {
  bytes: number;
  /** In hex; to be asked for once, when everything went by. */
  sha256(): string;
  of<T extends Uint8Array>(content: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
}

export function tally(): Tally {
  const hash = createHash('sha256');
  const self: Tally = {
    bytes: 0,
    sha256: () => hash.digest('hex'),
    async *of(content) {
      for await (const piece of content) {
        hash.update(piece);
        self.bytes += piece.length;
        yield piece;
      }
    },
  };
  return self;
}
