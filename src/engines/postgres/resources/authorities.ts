/** Whom members trust, as a text that changes with it: it is on their pods, since their processes read it once. */
import { createHash } from 'node:crypto';
import { sides } from './certificates.ts';

/** `generations`: of each authority, in the order of `sides`. */
export function fingerprint(generations: readonly number[]): string {
  return createHash('sha256').update(JSON.stringify(generations)).digest('hex').slice(0, 16);
}

/** Before anything was made or read. */
export const firstAuthorities = fingerprint(sides.map(() => 1));
