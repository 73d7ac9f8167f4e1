/**
 * Tar, as far as images need it: written so that the same input gives the same bytes on every machine and day, and read
 * without its contents.
 *
 * Every entry belongs to root and dates from 1970.
 */
import { open } from 'node:fs/promises';
import { SandboxError } from '../error.ts';

const block = 512;

export interface TarEntry {
  /** At most 100 bytes. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  readonly mode: number;
  readonly size: number;
  /** Of a symlink. */
  readonly target?: string;
}

/** The block before an entry's contents. */
export function tarHeader(entry: TarEntry): Buffer {
  const header = Buffer.alloc(block);
  const text = (value: string, at: number, length: number): void => {
    if (Buffer.byteLength(value) > length) throw new SandboxError(`too long for a tar entry: ${value}`);
    header.write(value, at, 'utf8');
  };
  const octal = (value: number, at: number, length: number): void => {
    text(`${value.toString(8).padStart(length - 1, '0')}\0`, at, length);
  };
  text(entry.name, 0, 100);
  octal(entry.mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(entry.size, 124, 12);
  octal(0, 136, 12);
  text('        ', 148, 8);
  text({ file: '0', directory: '5', symlink: '2' }[entry.type], 156, 1);
  text(entry.target ?? '', 157, 100);
  text('ustar\u000000', 257, 8);
  // The sum is taken with its own field blank: six digits, NUL, space.
  text(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    8,
  );
  return header;
}

/** What fills an entry's contents up to a whole block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}

/** Two blocks of zeros. */
export const tarEnd = Buffer.alloc(2 * block);

/** An entry whose contents are at hand. */
export function tarFile(name: string, content: Buffer | string, mode = 0o644): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([tarHeader({ name, type: 'file', mode, size: bytes.length }), bytes, tarPadding(bytes.length)]);
}

/** Where an entry's contents are in a tar file. */
export interface TarPosition {
  readonly offset: number;
  readonly size: number;
}

/** The regular files of a tar file, by name without a leading `./`. Reads headers only. */
export async function readTarIndex(path: string): Promise<ReadonlyMap<string, TarPosition>> {
  const entries = new Map<string, TarPosition>();
  const file = await open(path);
  try {
    const header = Buffer.alloc(block);
    for (let offset = 0; (await file.read(header, 0, block, offset)).bytesRead === block; ) {
      if (header[0] === 0) break;
      const field = (at: number, length: number): string =>
        header.toString('utf8', at, at + length).split('\0')[0] ?? '';
      if (!field(257, 6).startsWith('ustar')) throw new SandboxError(`${path} is not a tar file`);
      const size = Number.parseInt(field(124, 12).trim(), 8);
      const prefix = field(345, 155);
      const name = (prefix === '' ? '' : `${prefix}/`) + field(0, 100);
      const type = field(156, 1);
      if (type === '0' || type === '') entries.set(name.replace(/^\.\//, ''), { offset: offset + block, size });
      offset += block + Math.ceil(size / block) * block;
    }
  } finally {
    await file.close();
  }
  return entries;
}
