/** Content that ends with a checksum over what goes before it: it passes through, and the end is checked. */

/**
 * @param length of the trailer
 * @param body receives what the checksum is over, piece by piece
 * @param end receives the trailer, shorter where the content is, and the number of all bytes; it throws where they do
 * not fit
 */
export async function* withTrailer(
  content: AsyncIterable<Uint8Array>,
  length: number,
  body: (piece: Uint8Array) => void,
  end: (trailer: Buffer, bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (piece.length >= length) {
      body(held);
      body(piece.subarray(0, piece.length - length));
      held = Buffer.from(piece.subarray(piece.length - length));
    } else {
      const both = Buffer.concat([held, piece]);
      const surplus = Math.max(0, both.length - length);
      body(both.subarray(0, surplus));
      held = both.subarray(surplus);
    }
    yield piece;
  }
  end(held, bytes);
}
