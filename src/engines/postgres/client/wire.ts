/**
 * A connection as a sequence of messages, read when somebody asks for them: while nobody does, the server has to wait, and
 * no more lies here than what one read has brought.
 */
import type { Duplex } from 'node:stream';
import { type Message, MessageDecoder } from './message-decoder.ts';

export interface Wire {
  /** Rejects when the connection has ended, and with ProtocolError on bytes that are no message. One at a time. */
  next(): Promise<Message>;
  write(bytes: Buffer): void;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  /** Ends the connection; the last words leave where nothing else waits to be written. */
  close(lastWords?: Buffer): void;
}

interface Waiting {
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** @param longest message that is collected, in bytes; CopyData is not */
export function openWire(stream: Duplex, longest: number): Wire {
  const decoder = new MessageDecoder(longest);
  let ready: readonly Message[] = [];
  let at = 0;
  let waiting: Waiting | undefined;
  let ended: Error | undefined;

  function serve(): void {
    if (waiting === undefined) return;
    const message = ready[at];
    const { resolve, reject } = waiting;
    if (message !== undefined) {
      at++;
      waiting = undefined;
      resolve(message);
    } else if (ended !== undefined) {
      waiting = undefined;
      reject(ended);
    } else stream.resume();
  }

  const closed = new Promise<void>((resolve) => {
    const end = (cause?: Error): void => {
      if (ended === undefined) {
        const where = decoder.isWithin ? ' within a message' : '';
        const words = new Error(`the connection to PostgreSQL has ended${where}`, cause === undefined ? {} : { cause });
        ended = cause?.name === 'ProtocolError' ? cause : words;
        stream.destroy();
      }
      serve();
      resolve();
    };
    stream.on('error', end);
    stream.on('close', () => end());
    stream.on('end', () => end());
    stream.on('data', (chunk: Buffer) => {
      if (ended !== undefined) return;
      stream.pause();
      const left = ready.slice(at);
      try {
        const messages = decoder.push(chunk);
        ready = left.length === 0 ? messages : [...left, ...messages];
        at = 0;
      } catch (error) {
        ready = left;
        at = 0;
        return end(error as Error);
      }
      serve();
    });
  });
  stream.pause();

  return {
    next() {
      return new Promise((resolve, reject) => {
        if (waiting !== undefined) return reject(new Error('somebody waits for a message already'));
        waiting = { resolve, reject };
        serve();
      });
    },
    write: (bytes) => void stream.write(bytes),
    closed,
    close(lastWords) {
      if (lastWords === undefined || stream.writableLength > 0 || stream.destroyed) stream.destroy();
      else stream.end(lastWords, () => stream.destroy());
    },
  };
}
