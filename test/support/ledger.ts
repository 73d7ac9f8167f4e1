/**
 * Writers that keep a ledger: every write that was acknowledged with WAIT 1 is in it, and must be readable at the end.
 *
 * A writer behaves like a plain client: it connects to where the primary is said to be, writes one key at a time, and
 * reconnects on any error. What was not acknowledged may be there or not.
 */
import { type RedisConnection, redisConnection } from '../../src/engines/redis/connection.ts';
import { dialTcp } from '../../src/runtime/engine-io.ts';

export interface LedgerOptions {
  /** Where to write now; asked on every connect. */
  readonly primary: () => Promise<{ readonly host: string; readonly port: number }>;
  readonly password: string;
  /** Connections that write at once. */
  readonly writers: number;
  /** Prefix of the keys. */
  readonly run: string;
}

export interface LedgerReport {
  readonly acknowledged: number;
  readonly lost: readonly string[];
  /** Longest time between two acknowledged writes of any writer, in milliseconds. */
  readonly longestGapMs: number;
}

export interface Ledger {
  /** Milliseconds of the longest gap that ended, or is running, since the last call of `mark`. */
  gapSinceMark(): number;
  mark(): void;
  readonly acknowledged: number;
  /** Stops writing, reads everything back from the primary and compares. */
  close(): Promise<LedgerReport>;
}

/** A write that has no answer by then counts as not acknowledged. */
const answerMs = 400;
const reconnectMs = 20;

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function connect(options: LedgerOptions, ms: number): Promise<RedisConnection> {
  const { host, port } = await options.primary();
  const connection = redisConnection(await dialTcp(host, port, AbortSignal.timeout(ms)));
  try {
    await within(ms, connection.command('AUTH', options.password));
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

export function openLedger(options: LedgerOptions): Ledger {
  const acknowledged = new Set<string>();
  let stopped = false;
  let lastAt = performance.now();
  let longest = 0;
  let longestSinceMark = 0;

  function acknowledge(key: string): void {
    const now = performance.now();
    longest = Math.max(longest, now - lastAt);
    longestSinceMark = Math.max(longestSinceMark, now - lastAt);
    lastAt = now;
    acknowledged.add(key);
  }

  async function write(writer: number): Promise<void> {
    let connection: RedisConnection | undefined;
    for (let n = 0; !stopped; n++) {
      try {
        connection ??= await connect(options, answerMs);
        const key = `${options.run}:${writer}:${n}`;
        const [, replicas] = await within(
          answerMs,
          Promise.all([connection.command('SET', key, String(n)), connection.command('WAIT', '1', String(answerMs))]),
        );
        if (Number(replicas) >= 1) acknowledge(key);
      } catch {
        // What a client does: forget the connection and ask again where the primary is.
        connection?.close();
        connection = undefined;
        await new Promise((resolve) => setTimeout(resolve, reconnectMs));
      }
    }
    connection?.close();
  }

  const writing = Array.from({ length: options.writers }, (_, writer) => write(writer));

  return {
    gapSinceMark: () => Math.max(longestSinceMark, performance.now() - lastAt),
    mark() {
      longestSinceMark = 0;
      lastAt = performance.now();
    },
    get acknowledged() {
      return acknowledged.size;
    },
    async close() {
      stopped = true;
      await Promise.all(writing);
      const connection = await connect(options, 5_000);
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
      return { acknowledged: acknowledged.size, lost, longestGapMs: longest };
    },
  };
}
