/**
 * Keys are derived from passwords on threads of Node's, while virtual time goes on: who waits for one would be late by chance. Here
 * they are derived at once. The same password and salt are asked for thousands of times.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Given = (error: Error | null, key: Buffer) => void;

const known = new Map<string, Buffer>();
let isAtOnce = false;

export function deriveKeysAtOnce(): void {
  if (isAtOnce) return;
  isAtOnce = true;
  const derive = (password: Buffer, salt: Buffer, iterations: number, length: number, digest: string, give: Given) => {
    const asked = [password.toString('base64'), salt.toString('base64'), iterations, length, digest].join();
    const key = known.get(asked) ?? crypto.pbkdf2Sync(password, salt, iterations, length, digest);
    known.set(asked, key);
    give(null, key);
  };
  Object.assign(crypto, { pbkdf2: derive });
  syncBuiltinESMExports();
}
