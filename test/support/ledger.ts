/**
 * Writers that keep a ledger: every write that was acknowledged with WAIT 1 is in it, and must be readable at the end.
 *
 * A writer behaves like a plain client: it connects to where the primary is said to be, writes one key at a time, and
 * reconnects on any error. What was not acknowledged may be there or not.
 */
import type { RedisConnection } from '../../src/engines/redis/client/connection.ts';
import { connectRedis, type RedisAddress, within } from './redis-client.ts';

export interface LedgerOptions {
  /** Where the primary is said to be: the address of the `-primary` Service. */
  readonly entrance: RedisAddress;
  /** Connections that write at once. */
  readonly writers: number;
  /** Prefix of the keys. */
  readonly run: string;
  /** Between two writes of a writer; default 1 ms: a few thousand a second in all, so that the machine has time for what is measured. */
  readonly pauseMs?: number;
}

export interface LedgerReport {
  readonly acknowledged: number;
  /** Keys that were acknowledged and are not there. */
  readonly lost: readonly string[];
}

export interface Ledger {
  /** Milliseconds of the longest time between two acknowledged writes of any writer since the last call of `mark`. */
  gapSinceMark(): number;
  mark(): void;
  readonly acknowledged: number;
  /** Stops writing. */
  stop(): void;
  /** Stops writing, reads everything back from the primary and compares. */
  close(): Promise<LedgerReport>;
}

/** A write that has no answer by then counts as not acknowledged. */
const answerMs = 400;
const reconnectMs = 20;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function openLedger(options: LedgerOptions): Ledger {
  const { pauseMs = 1 } = options;
  const acknowledged = new Set<string>();
  let stopped = false;
  let lastAt = performance.now();
  let longest = 0;

  function acknowledge(key: string): void {
    const now = performance.now();
    longest = Math.max(longest, now - lastAt);
    lastAt = now;
    acknowledged.add(key);
  }

  async function write(writer: number): Promise<void> {
    let connection: RedisConnection | undefined;
    for (let n = 0; !stopped; n++) {
      try {
        connection ??= await connectRedis(options.entrance, answerMs);
        const key = `${options.run}:${writer}:${n}`;
        const [, replicas] = await within(
          answerMs,
          Promise.all([connection.command('SET', key, String(n)), connection.command('WAIT', '1', String(answerMs))]),
        );
        if (Number(replicas) >= 1) acknowledge(key);
        await pause(pauseMs);
      } catch {
        // What a client does: forget the connection and ask again where the primary is.
        connection?.close();
        connection = undefined;
        await pause(reconnectMs);
      }
    }
    connection?.close();
  }

  const writing = Array.from({ length: options.writers }, (_, writer) => write(writer));

  return {
    gapSinceMark: () => Math.max(longest, performance.now() - lastAt),
    mark() {
      longest = 0;
      lastAt = performance.now();
    },
    get acknowledged() {
      return acknowledged.size;
    },
    stop() {
      stopped = true;
    },
    async close() {
      stopped = true;
      await Promise.all(writing);
      const connection = await connectRedis(options.entrance, 5_000);
      const lost: string[] = [];
      const keys = [...acknowledged];
      for (let i = 0; i < keys.length; i += 500) {
        const batch = keys.slice(i, i + 500);
        const values = await connection.command('MGET', ...batch);
        if (!Array.isArray(values)) throw new Error('MGET answered no list');
        values.forEach((value, j) => {
          const key = batch[j] ?? '';
          if (value !== key.split(':').at(-1)) lost.push(key);
        });
      }
      connection.close();
      return { acknowledged: acknowledged.size, lost };
    },
  };
}
