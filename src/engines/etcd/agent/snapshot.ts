/** A snapshot of etcd: the database's pages, then a SHA-256 over them. */
import { createHash } from 'node:crypto';
import type { Failure } from '../../../engine/driver/failure.ts';
import { withTrailer } from '../../../engine/driver/trailer.ts';

const trailerBytes = 32;
/** Pages of the database are a multiple of this long. */
const sectorBytes = 512;

/** The same content; at its end it fails where it is no whole snapshot: with what `fault` makes of the words. */
export async function* checkedSnapshot(
  content: AsyncIterable<Uint8Array>,
  fault: (why: string) => Failure,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  yield* withTrailer(
    content,
    trailerBytes,
    (piece) => void hash.update(piece),
    (trailer, bytes) => {
      if (bytes <= trailerBytes) throw fault('it is empty');
      if (bytes % sectorBytes !== trailerBytes) throw fault('it ends before its checksum');
      if (!hash.digest().equals(trailer)) throw fault('its checksum (SHA-256) does not fit');
    },
  );
}
