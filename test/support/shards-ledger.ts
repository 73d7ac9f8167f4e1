/**
 * Writers of a Redis Cluster that keep a ledger, through a client that is not ours: it finds the nodes, follows MOVED and ASK, and tries again by its
 * own rules. A write is acknowledged once a replica has it (`WAIT 1`). Each writer keeps to one slot, so that a shard that is away shows.
 */
import { Cluster } from 'ioredis';
import type { LedgerReport } from './ledger.ts';

export interface ShardsLedger {
  readonly acknowledged: number;
  mark(): void;
  /** Milliseconds of the longest time between two writes that a primary took of the same writer since `mark`. */
  gapSinceMark(): number;
  /** Milliseconds that 99 of 100 of these writes took at most since `mark`. */
  p99SinceMark(): number;
  /** Stops writing, and reads everything back. */
  close(): Promise<LedgerReport>;
}

export interface ShardsLedgerOptions {
  /** Where the client begins, and begins again when it reaches nobody. */
  readonly host: string;
  readonly password: string;
  readonly writers: number;
  /** Prefix of the keys. */
  readonly run: string;
}

const pauseMs = 5;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function openShardsLedger({ host, password, writers, run }: ShardsLedgerOptions): Promise<ShardsLedger> {
  const cluster = new Cluster([{ host, port: 6379 }], {
    redisOptions: { password, commandTimeout: 5_000, connectTimeout: 1_000, maxRetriesPerRequest: 1 },
    clusterRetryStrategy: () => 100,
    retryDelayOnFailover: 50,
    slotsRefreshTimeout: 2_000,
    lazyConnect: true,
  });
  // It connects anew by itself.
  cluster.on('error', () => undefined);
  await cluster.connect();
  const acknowledged = new Map<string, string>();
  let isStopped = false;
  const lastAt = Array.from({ length: writers }, () => performance.now());
  let longest = 0;
  let took: number[] = [];

  const forLong = async (each: (n: number) => Promise<void>): Promise<void> => {
    for (let n = 0; !isStopped; n++) {
      try {
        await each(n);
      } catch {
        // Not acknowledged: it may be there or not.
      }
      await pause(pauseMs);
    }
  };
  const keep = (writer: number) =>
    forLong(async (n) => {
      const key = `${run}:{${writer}}:${n}`;
      const [set, waited] = (await cluster.pipeline().set(key, String(n)).wait(1, 500).exec()) ?? [];
      if (set?.[1] === 'OK' && Number(waited?.[1]) >= 1) acknowledged.set(key, String(n));
    });
  const probe = (writer: number) =>
    forLong(async (n) => {
      const began = performance.now();
      if ((await cluster.set(`${run}:probe:{${writer}}`, String(n))) !== 'OK') return;
      const now = performance.now();
      longest = Math.max(longest, now - (lastAt[writer] ?? now));
      lastAt[writer] = now;
      took.push(now - began);
    });
  const writing = Array.from({ length: writers }, (_, writer) => [keep(writer), probe(writer)]).flat();

  return {
    get acknowledged() {
      return acknowledged.size;
    },
    mark() {
      longest = 0;
      took = [];
      lastAt.fill(performance.now());
    },
    gapSinceMark: () => Math.max(longest, performance.now() - Math.min(...lastAt)),
    p99SinceMark: () => took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.POSITIVE_INFINITY,
    async close() {
      isStopped = true;
      await Promise.all(writing);
      const lost: string[] = [];
      const keys = [...acknowledged];
      for (let i = 0; i < keys.length; i += 200) {
        const part = keys.slice(i, i + 200);
        const values = await Promise.all(part.map(([key]) => cluster.get(key)));
        part.forEach(([key, value], at) => {
          if (values[at] !== value) lost.push(key);
        });
      }
      cluster.disconnect();
      return { acknowledged: acknowledged.size, lost };
    },
  };
}
