/**
 * A piece of a log as it is stored. With a key, in the frames of backups; without one, as it is, followed by a SHA-256 of it and of
 * its place. Either way, what was changed, cut, or moved to another place is refused.
 */
import { createHash } from 'node:crypto';
import { decrypted, encrypted, FrameRefused } from '../../backup/frames.ts';
import type { BackupKey, KeyRing } from '../../backup/key.ts';
import { Failure } from '../../engine/driver/failure.ts';

const sumBytes = 32;

/** Whose data it is, for the frames. */
const ownerOf = (key: string): string => `archive ${key}`;

function sumOf(key: string, content: Uint8Array): Buffer {
  return createHash('sha256')
    .update(`${ownerOf(key)}\n`)
    .update(content)
    .digest();
}

/** @param salt 32 random bytes, never used before */
export async function* sealed(
  key: string,
  content: Buffer,
  encryption: BackupKey | undefined,
  salt: Buffer,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (encryption !== undefined) yield* encrypted(once(content), { key: encryption, owner: ownerOf(key), salt });
  else {
    yield content;
    yield sumOf(key, content);
  }
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield content;
}

/**
 * @param most bytes that a piece may have
 * @throws Failure Tampered, and what the content fails with
 */
export async function unsealed(
  key: string,
  stored: AsyncIterable<Uint8Array>,
  keys: KeyRing | undefined,
  most: number,
): Promise<Buffer> {
  const bytes = await collected(key, stored, most + most / 1024 + 4096);
  if (keys === undefined) {
    const content = bytes.subarray(0, Math.max(0, bytes.length - sumBytes));
    if (!bytes.subarray(content.length).equals(sumOf(key, content))) throw tampered(key, 'its SHA-256 does not fit it');
    return content;
  }
  let refused: unknown;
  // It does not say which of the keys it was written with.
  for (const each of keys) {
    try {
      return Buffer.concat(await pieces(decrypted(once(bytes), { key: each, owner: ownerOf(key) })));
    } catch (error) {
      if (!(error instanceof FrameRefused)) throw error;
      refused ??= error;
    }
  }
  throw tampered(key, (refused as Error).message);
}

async function pieces(content: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const piece of content) all.push(piece);
  return all;
}

async function collected(key: string, content: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    length += piece.length;
    if (length > most) throw tampered(key, `it has more than ${Math.floor(most)} bytes`);
    all.push(piece);
  }
  return Buffer.concat(all, length);
}

function tampered(key: string, why: string): Failure {
  return new Failure('Tampered', `${key} is not what was written: ${why}`);
}
