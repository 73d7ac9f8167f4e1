/**
 * Tar as PostgreSQL writes it (ustar), read piece by piece: headers, contents and padding, each with the very bytes, so
 * that what is read can be passed on. Anything else that a tar could hold is refused.
 */

/** Thrown for bytes that are no such tar. */
export class NotTar extends Error {
  override readonly name = 'NotTar';
}

export interface TarEntry {
  /** Bytes as they are, one in each character: names of files are of no encoding. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  readonly mode: number;
  readonly size: number;
}

export type TarEvent =
  | { readonly kind: 'entry'; readonly entry: TarEntry; readonly raw: Buffer }
  | { readonly kind: 'data'; readonly raw: Buffer; readonly isLast: boolean }
  | { readonly kind: 'padding'; readonly raw: Buffer }
  /** Two blocks of zeros follow, and nothing else. */
  | { readonly kind: 'end' };

const block = 512;

export class TarReader {
  #state: 'header' | 'data' | 'padding' | 'over' = 'header';
  #held: Buffer = Buffer.alloc(0);
  /** Of the contents, and of what fills up their last block. */
  #data = 0;
  #padding = 0;
  #zeros = 0;

  /** Throws NotTar. */
  push(piece: Buffer): TarEvent[] {
    const events: TarEvent[] = [];
    let rest = piece;
    while (rest.length > 0) {
      switch (this.#state) {
        case 'header': {
          const missing = block - this.#held.length;
          const taken = rest.subarray(0, missing);
          rest = rest.subarray(taken.length);
          const header = this.#held.length === 0 ? taken : Buffer.concat([this.#held, taken]);
          this.#held = header.length < block ? header : Buffer.alloc(0);
          if (header.length === block) this.#header(header, events);
          break;
        }
        case 'data': {
          const raw = rest.subarray(0, this.#data);
          rest = rest.subarray(raw.length);
          this.#data -= raw.length;
          events.push({ kind: 'data', raw, isLast: this.#data === 0 });
          if (this.#data === 0) this.#state = this.#padding > 0 ? 'padding' : 'header';
          break;
        }
        case 'padding': {
          const raw = rest.subarray(0, this.#padding);
          rest = rest.subarray(raw.length);
          this.#padding -= raw.length;
          events.push({ kind: 'padding', raw });
          if (this.#padding === 0) this.#state = 'header';
          break;
        }
        case 'over':
          if (rest.some((byte) => byte !== 0)) throw new NotTar('something follows the end of the tar');
          this.#zeros += rest.length;
          rest = rest.subarray(rest.length);
          break;
      }
    }
    return events;
  }

  /** Throws NotTar unless everything has come. */
  finish(): void {
    if (this.#state !== 'over' || this.#zeros < block) throw new NotTar('it ends before the end of the tar');
  }

  #header(header: Buffer, events: TarEvent[]): void {
    if (header.every((byte) => byte === 0)) {
      this.#state = 'over';
      events.push({ kind: 'end' });
      return;
    }
    const entry = entryIn(header);
    events.push({ kind: 'entry', entry, raw: header });
    this.#data = entry.size;
    this.#padding = (block - (entry.size % block)) % block;
    this.#state = entry.size > 0 ? 'data' : 'header';
  }
}

const sumAt = 148;

/** The sum over the header, with the field of the sum taken as blanks. */
function sumOf(header: Buffer): number {
  return header.reduce((sum, byte, i) => sum + (i >= sumAt && i < sumAt + 8 ? 0x20 : byte), 0);
}

function entryIn(header: Buffer): TarEntry {
  const text = (at: number, length: number): string => header.toString('latin1', at, at + length).split('\0')[0] ?? '';
  const octal = (at: number, length: number): number => {
    const digits = text(at, length).trim();
    if (!/^[0-7]+$/.test(digits)) throw new NotTar('a number in a header is none');
    return Number.parseInt(digits, 8);
  };
  if (text(257, 5) !== 'ustar' || octal(sumAt, 8) !== sumOf(header)) throw new NotTar('a header is none');
  const name = (text(345, 155) === '' ? '' : `${text(345, 155)}/`) + text(0, 100);
  const type = typeOf(header.toString('latin1', 156, 157));
  if (type === undefined) throw new NotTar(`${JSON.stringify(name)} is neither a file nor a directory nor a link`);
  const size = type === 'file' ? sizeIn(header, octal) : 0;
  return { name, type, mode: octal(100, 8) & 0o7777, size };
}

function typeOf(flag: string): TarEntry['type'] | undefined {
  switch (flag) {
    case '0':
    case '\0':
      return 'file';
    case '5':
      return 'directory';
    case '2':
      return 'symlink';
    default:
      return undefined;
  }
}

/** In octal, or from 8 GiB on as a number of which the first bit is set. */
function sizeIn(header: Buffer, octal: (at: number, length: number) => number): number {
  const at = 124;
  if (header[at] !== 0x80) return octal(at, 12);
  const size = header.readBigUInt64BE(at + 4);
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw new NotTar('a size is out of bounds');
  return Number(size);
}

/** The block before the contents of a file that only its owner reads; of 1970. */
export function fileHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, at: number, digits: number): void =>
    void header.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  header.write(name, 0, 'latin1');
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11);
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  octal(sumOf(header), sumAt, 6);
  header.write('\0 ', sumAt + 6, 'latin1');
  return header;
}

/** What fills contents of this size up to whole blocks. */
export function paddingOf(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}

export const tarEnd: Buffer = Buffer.alloc(2 * block);
