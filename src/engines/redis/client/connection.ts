/**
 * One connection to one Redis process: commands in order, replies in order, every wait bounded.
 *
 * There is no reconnecting and no queue that outlives the connection: who observes wants to know that a peer is gone.
 */
import type { Duplex } from 'node:stream';
import { encodeCommand, RedisError, type Reply, ReplyDecoder, type TextEncoding } from './resp.ts';

export interface RedisConnection {
  /** Rejects when the connection ends first. An error reply rejects with RedisError. */
  command(...args: readonly string[]): Promise<Reply>;
  /** Receives pushed messages after a subscription; from then on `command` must not be used. */
  onPush(receive: (message: Reply) => void): void;
  /** Reads nothing more until then; what has come is handed out first. A peer that goes on talking has to wait. */
  restUntil(over: Promise<unknown>): void;
  /** From now on texts are bytes, a character for each, and a reply may be this long. Not while a reply is awaited. */
  useBytes(longest: number): void;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  close(): void;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** @param longest answer in bytes that is read */
export function redisConnection(stream: Duplex, longest?: number): RedisConnection {
  const decoder = new ReplyDecoder(longest);
  const waiting: Waiting[] = [];
  let receive: ((message: Reply) => void) | undefined;
  let ended: Error | undefined;
  let encoding: TextEncoding = 'utf8';

  const closed = new Promise<void>((resolve) => {
    const end = (cause?: Error): void => {
      if (ended !== undefined) return;
      ended = new Error('the connection to Redis has ended', cause === undefined ? {} : { cause });
      for (const { reject } of waiting.splice(0)) reject(ended);
      stream.destroy();
      resolve();
    };
    stream.on('error', end);
    stream.on('close', () => end());
    stream.on('end', () => end());
    stream.on('data', (chunk: Buffer) => {
      try {
        for (const reply of decoder.push(chunk)) deliver(reply);
      } catch (error) {
        end(error as Error);
      }
    });
  });

  function deliver(reply: Reply): void {
    const next = waiting.shift();
    if (next === undefined) receive?.(reply);
    else if (reply instanceof RedisError) next.reject(reply);
    else next.resolve(reply);
  }

  return {
    command(...args) {
      return new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        waiting.push({ resolve, reject });
        stream.write(encodeCommand(args, encoding));
      });
    },
    onPush(handler) {
      receive = handler;
    },
    restUntil(over) {
      stream.pause();
      void over.finally(() => stream.resume());
    },
    useBytes(longest) {
      encoding = 'latin1';
      decoder.readBytes(longest);
    },
    closed,
    close: () => stream.destroy(),
  };
}
