/**
 * Redis processes that exist only in memory: an address, and a function that answers commands. What a process was asked
 * is kept, so that a test can tell who was told what, in which order.
 */
import { type Duplex, duplexPair } from 'node:stream';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { RedisError, type Reply, ReplyDecoder } from '../../src/engines/redis/client/resp.ts';
import { type Clock, sleep } from '../../src/system/clock.ts';
import { blankAccounts, blankClaims } from './blank-claims.ts';
import { VirtualClock } from './virtual-clock.ts';

/** The reply to a command; `hang` never answers, `hangUp` ends the connection, `slowly` takes its time. */
export type Answer =
  | Reply
  | { readonly does: 'hang' | 'hang up' }
  | { readonly does: 'answer'; readonly reply: Reply; readonly afterMs: number };
export type Process = (command: string) => Answer;

export const hang: Answer = { does: 'hang' };
export const hangUp: Answer = { does: 'hang up' };
export const slowly = (afterMs: number, reply: Reply): Answer => ({ does: 'answer', reply, afterMs });

/** As a server writes it. */
export function encodeReply(reply: Reply): string {
  if (reply instanceof RedisError) return `-${reply.message}\r\n`;
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
  return `*${reply.length}\r\n${reply.map(encodeReply).join('')}`;
}

/** A record as a flat list of names and values. */
export const flat = (fields: Readonly<Record<string, string>>): string[] => Object.entries(fields).flat();

/** Lines of INFO. */
export const info = (fields: Readonly<Record<string, string | number>>): string =>
  `# Section\r\n${Object.entries(fields)
    .map((pair) => pair.join(':'))
    .join('\r\n')}\r\n`;

export interface ScriptedNetwork {
  readonly io: EngineContext;
  readonly clock: VirtualClock;
  /** `ADDRESS:PORT COMMAND` in the order of arrival, AUTH with the right password left out. */
  readonly asked: string[];
  /** Connections that are open now. */
  open(): number;
  abort(): void;
  /** A message that nobody asked for, to everybody connected to the address. */
  push(address: string, message: Reply): void;
}

export interface ScriptedOptions {
  /** By `ADDRESS:PORT`. Whoever is not there refuses the connection; `undefined` never answers a connect. */
  readonly processes: Readonly<Record<string, Process | undefined>>;
  /** Default: `db-auth` with the password `pw`. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The one that every process wants. Default `pw`. */
  readonly password?: string;
}

export function scriptedNetwork(options: ScriptedOptions): ScriptedNetwork {
  const { processes, password = 'pw', secrets = { 'db-auth': { password } } } = options;
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const asked: string[] = [];
  const opened: Duplex[] = [];
  const servers: { readonly address: string; readonly stream: Duplex }[] = [];

  function serve(address: string, stream: Duplex, process: Process): void {
    const decoder = new ReplyDecoder();
    stream.on('data', (chunk: Buffer) => {
      for (const args of decoder.push(chunk)) {
        const command = Array.isArray(args) ? args.join(' ') : String(args);
        const isLogin = command === `AUTH ${password}`;
        if (!isLogin) asked.push(`${address} ${command}`);
        const answer = isLogin ? 'OK' : process(command);
        if (typeof answer === 'object' && answer !== null && 'does' in answer) {
          if (answer.does === 'hang up') stream.end();
          if (answer.does === 'answer') clock.after(answer.afterMs, () => stream.write(encodeReply(answer.reply)));
        } else stream.write(encodeReply(answer));
      }
    });
  }

  const io: EngineContext = {
    signal: stopping.signal,
    sleep: (ms, signal) => sleep(clock, ms, AbortSignal.any([stopping.signal, ...(signal ? [signal] : [])])),
    secret: async (name) => secrets[name],
    secretNow: () => Promise.resolve(undefined),
    secretRefused: () => undefined,
    secretOutdated: () => undefined,
    claim: (name) => blankClaims('apps', name, stopping.signal),
    serviceAccount: (name) => blankAccounts('apps', name, stopping.signal),
    now: () => clock.now(),
    exchange: () => Promise.reject(new Error('nobody here speaks HTTP')),
    dial: (host, port, signal) =>
      new Promise((resolve, reject) => {
        const address = `${host}:${port}`;
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        if (!(address in processes)) return reject(new Error(`connect ECONNREFUSED ${address}`));
        const process = processes[address];
        if (process === undefined) return;
        const [ours, theirs] = duplexPair();
        opened.push(ours);
        servers.push({ address, stream: theirs });
        serve(address, theirs, process);
        resolve(ours);
      }),
  };
  return {
    io,
    clock,
    asked,
    open: () => opened.filter((stream) => !stream.destroyed).length,
    abort: () => stopping.abort(new Error('stopping')),
    push(address, message) {
      for (const server of servers) if (server.address === address) server.stream.write(encodeReply(message));
    },
  };
}

/** Lets time pass until the work is over, as far as it takes. */
export async function settle<T>(clock: Clock & VirtualClock, work: Promise<T>): Promise<PromiseSettledResult<T>> {
  let result: PromiseSettledResult<T> | undefined;
  void work.then(
    (value) => {
      result = { status: 'fulfilled', value };
    },
    (reason: unknown) => {
      result = { status: 'rejected', reason };
    },
  );
  await clock.advance(0);
  for (let elapsed = 0; elapsed < 60_000; elapsed += 5) {
    if (result !== undefined) return result;
    await clock.advance(5);
  }
  throw new Error('it is not over after a minute');
}
