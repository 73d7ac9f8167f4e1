/**
 * Encrypted data as it is stored: a header, then frames of 1 MiB, each with a tag of its own (AES-256-GCM).
 *
 * A stream of any length is checked before a byte of a frame is used. The number of a frame and whether it is the last
 * are its nonce; header and owner are authenticated with each one. So a frame that is changed, moved, left out, repeated
 * or taken from another backup is refused, and so is a stream that ends early or goes on.
 *
 *     header: "CWBACKUP" | version 1 | 3 zero bytes | frame size, 32 bits, big endian | salt, 32 bytes
 *     frame:  ciphertext of as many bytes as the frame size says, the last one of that many or fewer | tag, 16 bytes
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type BackupKey, dataKey } from './key.ts';

export const frameScheme = 'aes-256-gcm-frames';

export const frameBytes = 1024 * 1024;
const maxFrameBytes = 16 * frameBytes;
const tagBytes = 16;
const saltBytes = 32;
const magic = Buffer.from('CWBACKUP');
const version = 1;
export const headerBytes = magic.length + 8 + saltBytes;

/** The data is not what was written, or not by this key, or not for this owner. */
export class FrameRefused extends Error {
  override readonly name = 'FrameRefused';
}

export interface FrameOptions {
  readonly key: BackupKey;
  /** Whose data it is. A stream that was written for somebody else is refused. */
  readonly owner: string;
}

/** 12 bytes: is it the last, three zero bytes, its number. */
function nonce(index: bigint, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12);
  bytes[0] = isLast ? 1 : 0;
  bytes.writeBigUInt64BE(index, 4);
  return bytes;
}

function header(salt: Uint8Array, size: number): Buffer {
  const fixed = Buffer.alloc(8);
  fixed[0] = version;
  fixed.writeUInt32BE(size, 4);
  return Buffer.concat([magic, fixed, salt]);
}

/** @param salt 32 random bytes, never used before */
export async function* encrypted(
  plain: AsyncIterable<Uint8Array>,
  { key, owner, salt, size = frameBytes }: FrameOptions & { readonly salt: Uint8Array; readonly size?: number },
): AsyncGenerator<Buffer, void, undefined> {
  if (salt.length !== saltBytes) throw new Error(`a salt has ${saltBytes} bytes`);
  const head = header(salt, size);
  const secret = dataKey(key, salt);
  const associated = Buffer.concat([head, Buffer.from(owner)]);
  let index = 0n;
  /** Ciphertext and tag. In this mode nothing is left over for the end. */
  const seal = function* (content: Uint8Array, isLast: boolean): Generator<Buffer, void, undefined> {
    const cipher = createCipheriv('aes-256-gcm', secret, nonce(index, isLast));
    cipher.setAAD(associated);
    index += 1n;
    const sealed = cipher.update(content);
    cipher.final();
    yield sealed;
    yield cipher.getAuthTag();
  };
  yield head;
  const pending = new Pending(size);
  // A full frame waits until there is more: only then is it known not to be the last.
  for await (const chunk of plain) for (const full of pending.push(chunk)) yield* seal(full, false);
  yield* seal(pending.rest(), true);
}

/** @throws FrameRefused before a byte of the wrong frame is handed out */
export async function* decrypted(
  stored: AsyncIterable<Uint8Array>,
  { key, owner }: FrameOptions,
): AsyncGenerator<Buffer, void, undefined> {
  let head = Buffer.alloc(0);
  let opened: { readonly pending: Pending; readonly open: (frame: Buffer, isLast: boolean) => Buffer } | undefined;
  for await (const chunk of stored) {
    let content: Uint8Array = chunk;
    if (opened === undefined) {
      head = Buffer.concat([head, chunk]);
      if (head.length < headerBytes) continue;
      content = head.subarray(headerBytes);
      opened = opener(head.subarray(0, headerBytes), key, owner);
    }
    for (const full of opened.pending.push(content)) yield opened.open(full, false);
  }
  if (opened === undefined) throw new FrameRefused('the data ends within its header');
  yield opened.open(opened.pending.rest(), true);
}

function opener(head: Buffer, key: BackupKey, owner: string) {
  const size = head.readUInt32BE(magic.length + 4);
  const salt = head.subarray(headerBytes - saltBytes);
  const isKnown = size > 0 && size <= maxFrameBytes && head.equals(header(salt, size));
  if (!isKnown) throw new FrameRefused('the data does not begin with the header of an encrypted backup');
  const secret = dataKey(key, salt);
  const associated = Buffer.concat([head, Buffer.from(owner)]);
  let index = 0n;
  const open = (frame: Buffer, isLast: boolean): Buffer => {
    if (frame.length < tagBytes) throw new FrameRefused(`frame ${index} is cut`);
    const decipher = createDecipheriv('aes-256-gcm', secret, nonce(index, isLast));
    decipher.setAAD(associated);
    decipher.setAuthTag(frame.subarray(frame.length - tagBytes));
    try {
      const plain = decipher.update(frame.subarray(0, frame.length - tagBytes));
      decipher.final();
      index += 1n;
      return plain;
    } catch (cause) {
      throw new FrameRefused(`frame ${index} is not what was written`, { cause });
    }
  };
  return { pending: new Pending(size + tagBytes), open };
}

/** Collects bytes, and gives away a full frame as soon as there are more bytes than that. */
class Pending {
  readonly #size: number;
  #buffer: Buffer;
  #held = 0;

  constructor(size: number) {
    this.#size = size;
    this.#buffer = Buffer.allocUnsafe(size);
  }

  *push(chunk: Uint8Array): Generator<Buffer, void, undefined> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#held === this.#size) {
        this.#held = 0;
        yield this.#buffer;
      }
      const part = chunk.subarray(at, at + this.#size - this.#held);
      this.#buffer.set(part, this.#held);
      this.#held += part.length;
      at += part.length;
    }
  }

  rest(): Buffer {
    return this.#buffer.subarray(0, this.#held);
  }
}
