/**
 * Where a conversation with Redis takes place: on real servers or on simulated ones. Members are called `n1`, `n2`, …
 * (data nodes) and `s1`, `s2`, … (sentinels); replies come with addresses put back into these names.
 */
import { RedisError, type Reply } from '../../../../src/engines/redis/client/resp.ts';

export const password = 'pass#word';
export const watched = 'db';

/** What a conversation sees of a reply: errors as text with a dash before it, addresses as names. */
export type Heard = string | number | null | readonly Heard[];

export interface Talk {
  /** Resolves with the reply; `ended` where the connection ends instead. */
  say(...args: readonly string[]): Promise<Heard>;
  /** What arrived without being asked for. */
  readonly pushed: readonly Heard[];
  close(): void;
}

export interface Stage {
  /**
   * Starts it, or starts it again with the files that it had. Lines are added to its configuration, a sentinel's only the
   * first time. Rejects where it does not start.
   */
  start(member: string, conf?: readonly string[]): Promise<void>;
  /** With SIGKILL. */
  kill(member: string): Promise<void>;
  /** With SIGTERM; resolves with the exit code. */
  terminate(member: string): Promise<number | null>;
  /** A connection that has logged in, unless told not to. */
  open(member: string, login?: boolean): Promise<Talk>;
  /** One command on a connection of its own. */
  ask(member: string, ...args: readonly string[]): Promise<Heard>;
  /** Asks until the answer is yes. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  address(member: string): string;
  /** Milliseconds, of the stage's own time. */
  now(): number;
  close(): Promise<void>;
}

/** Lines of a data node's configuration, without what only real servers need. */
export function dataConf(address: string): string[] {
  return [
    'port 6379',
    'protected-mode no',
    'appendonly yes',
    'save ""',
    'repl-diskless-sync yes',
    'repl-diskless-sync-delay 0',
    `requirepass ${password}`,
    `masterauth ${password}`,
    `replica-announce-ip ${address}`,
  ];
}

export function sentinelConf(member: string, address: string): string[] {
  return [
    'port 26379',
    'protected-mode no',
    `sentinel myid ${idOf(member)}`,
    `sentinel announce-ip ${address}`,
    `requirepass ${password}`,
    `sentinel sentinel-pass ${password}`,
  ];
}

/** The same each time, so that rows can name it. */
export const idOf = (member: string): string => member.padStart(40, '0').replace('s', 'a');

/** Addresses become names, errors text. */
export function heard(reply: Reply, nameOf: (address: string) => string | undefined): Heard {
  if (reply instanceof RedisError) return `-${heard(reply.message, nameOf)}`;
  if (typeof reply === 'string')
    return reply.replace(/\b127\.\d+\.\d+\.\d+\b/g, (address) => nameOf(address) ?? address);
  return reply === null || typeof reply === 'number' ? reply : reply.map((item) => heard(item, nameOf));
}

/** `n1` and `s1` are at different addresses. */
export function hostNumber(member: string): number {
  return Number(member.slice(1)) + (member.startsWith('s') ? 100 : 0);
}

export const ended = 'ended';
