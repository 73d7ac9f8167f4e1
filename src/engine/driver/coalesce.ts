/** Small pieces, put together: what follows costs as much for a small one as for a large one. */

/** As long as what one read from a socket brings, four times over. */
export const coalescedBytes = 256 * 1024;

/** The same bytes, in pieces of about this size; the last one may be smaller, and none is empty. */
export async function* coalesced(
  content: AsyncIterable<Uint8Array>,
  size: number = coalescedBytes,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < size) continue;
    yield Buffer.concat(held, bytes);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held, bytes);
}
