/** How many bytes went by, and their SHA-256. */
import { createHash } from 'node:crypto';

export interface Meter {
  bytes: number;
  /** In hex; to be asked for once, when everything went by. */
  sha256(): string;
  of<T extends Uint8Array>(content: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
}

export function meter(): Meter {
  const hash = createHash('sha256');
  const self: Meter = {
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
