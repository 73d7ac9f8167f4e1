/**
 * What a server sends, cut into messages: a byte for the type, four for the length, and the body. Chunks may end anywhere.
 *
 * Bodies are collected up to a limit. Those of CopyData are handed out in parts, as they come: a base backup is gigabytes
 * long, and nobody has to hold more of it than what one read from a socket brings.
 */

/** Thrown when the peer does not speak the protocol, or says too much; the connection cannot be used any more. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

export interface WholeMessage {
  readonly kind: 'message';
  /** One character: `Z` is ReadyForQuery. */
  readonly type: string;
  readonly body: Buffer;
}

export interface CopyPart {
  readonly kind: 'copy';
  readonly bytes: Buffer;
  /** Of its message. The first part has at least {@link longestCopyHead} bytes, or all that there are. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export type Message = WholeMessage | CopyPart;

/** As long as the head of streamed WAL, the longest that there is. */
export const longestCopyHead = 25;

const headBytes = 5;
const copyData = 0x64;
/** Every type is a letter, or `1`, `2`, `3`. */
const isType = (byte: number): boolean =>
  (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x31 && byte <= 0x33);

export class MessageDecoder {
  readonly #longest: number;
  readonly #held: Buffer[] = [];
  #heldBytes = 0;
  /** What has to be there before anything can be handed out. */
  #needed = headBytes;
  /** Of the CopyData that is being handed out. */
  #copyRest = 0;

  /** @param longest body of a message that is collected, in bytes */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Bytes of a message that has not ended. */
  get isWithin(): boolean {
    return this.#heldBytes > 0 || this.#copyRest > 0;
  }

  /** Throws ProtocolError on bytes that are no message. */
  push(chunk: Buffer): Message[] {
    const messages: Message[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#copyRest > 0) {
        const bytes = rest.subarray(0, this.#copyRest);
        this.#copyRest -= bytes.length;
        rest = rest.subarray(bytes.length);
        messages.push({ kind: 'copy', bytes, isFirst: false, isLast: this.#copyRest === 0 });
        continue;
      }
      if (this.#heldBytes === 0 && rest[0] === copyData && rest.length >= headBytes + longestCopyHead) {
        rest = this.#copyAtOnce(rest, messages);
        continue;
      }
      const taken = rest.subarray(0, this.#needed - this.#heldBytes);
      this.#held.push(taken);
      this.#heldBytes += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#heldBytes === this.#needed) this.#advance(messages);
    }
    return messages;
  }

  /** The usual case: the first part of CopyData is as long as the chunk has it. */
  #copyAtOnce(chunk: Buffer, messages: Message[]): Buffer {
    const length = chunk.readInt32BE(1) - 4;
    if (length < 0) throw new ProtocolError('a message is shorter than its head');
    const bytes = chunk.subarray(headBytes, headBytes + length);
    this.#copyRest = length - bytes.length;
    messages.push({ kind: 'copy', bytes, isFirst: true, isLast: this.#copyRest === 0 });
    return chunk.subarray(headBytes + bytes.length);
  }

  /** What was needed is there: the head, or what can be handed out. */
  #advance(messages: Message[]): void {
    const [first] = this.#held;
    const bytes = this.#held.length === 1 && first !== undefined ? first : Buffer.concat(this.#held);
    const type = bytes[0] ?? 0;
    const length = bytes.readInt32BE(1) - 4;
    const isCopy = type === copyData;
    if (this.#needed === headBytes) {
      if (!isType(type)) throw new ProtocolError(`a message starts with byte ${type}`);
      if (length < 0) throw new ProtocolError('a message is shorter than its head');
      if (!isCopy && length > this.#longest) throw new ProtocolError(`a message is longer than ${this.#longest} bytes`);
      this.#needed = headBytes + (isCopy ? Math.min(length, longestCopyHead) : length);
      if (this.#needed > headBytes) {
        this.#held.splice(0, this.#held.length, bytes);
        return;
      }
    }
    const body = bytes.subarray(headBytes);
    this.#held.length = 0;
    this.#heldBytes = 0;
    this.#needed = headBytes;
    if (!isCopy) return void messages.push({ kind: 'message', type: String.fromCharCode(type), body });
    this.#copyRest = length - body.length;
    messages.push({ kind: 'copy', bytes: body, isFirst: true, isLast: this.#copyRest === 0 });
  }
}
