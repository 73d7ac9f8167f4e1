/**
 * What a server keeps of the users that the operator has set on it, and of nothing else: which ones they are, with which hashes and rules, and
 * how the server described each of them then. It stands on the server itself, as the key patterns of a user who can neither log in nor do
 * anything. So it is there for exactly as long as the users are, comes back only together with them, and needs neither status nor file.
 *
 * One pattern is one user: `~NAME;DIGEST;#HASH;+@read;~app:*`. The scripts of the pods read it (`restore_users` in `shell/library.sh`).
 */
import { createHash } from 'node:crypto';
import { reservedPrefix } from '../kind/users.ts';
import type { Reply } from './resp.ts';

/** The user that carries the record. */
export const recordUser = `${reservedPrefix}-users`;
/** On which rules are tried. It is off, too. */
export const trialUser = `${reservedPrefix}-trial`;

export interface UserRecord {
  readonly name: string;
  /** Of the server's own description of the user. */
  readonly digest: string;
  /** As in `ACL SETUSER NAME reset on WORDS`: hashes, then rules. */
  readonly words: readonly string[];
}

/** What follows `reset on`. A rule in parentheses is several words. */
export function wordsOf(hashes: readonly string[], rules: readonly string[]): string[] {
  return [...hashes.map((hash) => `#${hash}`), ...rules.flatMap((rule) => rule.split(' '))];
}

/** What follows `ACL SETUSER`. */
export function recordRule(records: readonly UserRecord[]): string[] {
  const patterns = records.map(({ name, digest, words }) => `~${[name, digest, ...words].join(';')}`);
  return [recordUser, 'reset', 'off', ...patterns];
}

/** Names that others can have written: whatever no spec could name is none of ours. */
const name = /^[A-Za-z0-9][-._A-Za-z0-9]{0,62}$/;

/** From the answer to `ACL GETUSER` of the user that carries it. Undefined where it is no answer of a server. */
export function recordsIn(answer: Reply): UserRecord[] | undefined {
  if (answer === null) return [];
  const patterns = fieldOf(answer, 'keys');
  if (typeof patterns !== 'string') return undefined;
  return patterns.split(' ').flatMap((text) => {
    const [user = '', digest = '', ...words] = text.slice(1).split(';');
    const isOurs = name.test(user) && user !== 'default' && !user.startsWith(reservedPrefix);
    return isOurs ? [{ name: user, digest, words }] : [];
  });
}

/** Answers name each field before its value. */
function fieldOf(answer: Reply, field: string): Reply | undefined {
  if (!Array.isArray(answer)) return undefined;
  const at = answer.findIndex((part, i) => i % 2 === 0 && part === field);
  return at === -1 ? undefined : answer[at + 1];
}

/**
 * Of what a server tells of a user, but for whether it is on. Servers describe the same rules differently, and older ones in other words than
 * they were told; so a description is compared only with another one of the same server.
 */
export function digestOf(answer: Reply): string {
  const flags = fieldOf(answer, 'flags');
  const told = Array.isArray(answer)
    ? answer.map((part) =>
        part === flags && Array.isArray(part) ? part.filter((flag) => flag !== 'on' && flag !== 'off') : part,
      )
    : answer;
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16);
}

export function isOn(answer: Reply): boolean {
  const flags = fieldOf(answer, 'flags');
  return Array.isArray(flags) && flags.includes('on');
}
