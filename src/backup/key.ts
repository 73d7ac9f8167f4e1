/**
 * The key that backups are encrypted with, as it comes from a Secret: 32 bytes in base64 on a line.
 *
 * Further lines are older keys: they open what was encrypted with them, and nothing new is. What is really used is
 * derived, for one purpose each.
 */
import { createHmac, hkdfSync } from 'node:crypto';

const keyBytes = 32;

export interface BackupKey {
  /** Names the key in a manifest, and tells nothing of it. */
  readonly id: string;
  readonly secret: Buffer;
}

/** The first one encrypts; each of them may decrypt. */
export type KeyRing = readonly [BackupKey, ...BackupKey[]];

export class BadKey extends Error {
  override readonly name = 'BadKey';
}

/** @throws BadKey, without a word of what the file holds */
export function parseKeys(text: string): KeyRing {
  const lines = text.split('\n').map((line) => line.trim());
  const keys = lines.flatMap((line, index) => (line === '' ? [] : [parseKey(line, index + 1)]));
  const [first, ...others] = keys;
  if (first === undefined) throw new BadKey('the file is empty: it must hold 32 bytes in base64');
  return [first, ...others];
}

function parseKey(line: string, number: number): BackupKey {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(line))
    throw new BadKey(`line ${number} is not base64: it must hold 32 bytes in it`);
  const secret = Buffer.from(line, 'base64');
  if (secret.length !== keyBytes) {
    throw new BadKey(`line ${number} holds ${secret.length} bytes in base64, and a key has ${keyBytes}`);
  }
  return { secret, id: createHmac('sha256', secret).update('clusterwright backup: key id').digest('hex').slice(0, 16) };
}

/** For the data of one backup: the salt is random, so that no two share a key. */
export function dataKey(key: BackupKey, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key.secret, salt, 'clusterwright backup: data', keyBytes));
}

/** For the seals of manifests. */
export function sealKey(key: BackupKey): Buffer {
  return Buffer.from(hkdfSync('sha256', key.secret, '', 'clusterwright backup: manifest', keyBytes));
}
