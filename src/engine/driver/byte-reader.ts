/** Lines and bytes from one stream of bytes, in the order in which they come; no byte is read before it is asked for. */
import type { Failure } from './failure.ts';

const maxLineBytes = 64 * 1024;

export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #ended: (why: string) => Failure;
  #rest: Buffer = Buffer.alloc(0);

  /** @param ended makes the failure of a stream that ends too early, or says what no one can mean */
  constructor(content: AsyncIterable<Uint8Array>, ended: (why: string) => Failure) {
    this.#pieces = content[Symbol.asyncIterator]();
    this.#ended = ended;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (done) return false;
    const piece = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    return true;
  }

  /** Up to a line feed, without it and without a carriage return before it. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf(0x0a);
      if (end >= 0) {
        const line = this.#rest.toString('utf8', 0, end).replace(/\r$/, '');
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      if (this.#rest.length > maxLineBytes) throw this.#ended('a line does not end');
      if (!(await this.#more())) throw this.#ended('the connection ended');
    }
  }

  /** Exactly so many bytes. */
  async *exactly(bytes: number): AsyncGenerator<Buffer, void, undefined> {
    let missing = bytes;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        throw this.#ended(`the connection ended ${missing} bytes before the end`);
      }
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  /** Everything before the mark, after which nothing may come. */
  async *upTo(mark: Buffer): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const surplus = this.#rest.length - mark.length;
      if (surplus >= 0 && this.#rest.subarray(surplus).equals(mark)) {
        if (surplus > 0) yield this.#rest.subarray(0, surplus);
        this.#rest = Buffer.alloc(0);
        return;
      }
      if (surplus > 0) {
        const piece = this.#rest.subarray(0, surplus);
        this.#rest = this.#rest.subarray(surplus);
        yield piece;
      }
      if (!(await this.#more())) throw this.#ended('the connection ended before the mark of the end');
    }
  }
}
