/**
 * Writers that keep a ledger of an etcd: every write that was acknowledged, by a majority as always, is in it and must
 * be readable at the end. Every tenth write is read back at once from another member, linearizably.
 *
 * A writer behaves like a plain client: it stays with one member while that answers, and turns to another one when not.
 */
import type { AskEtcd } from './etcd-client.ts';
import { until } from './until.ts';

export interface EtcdLedgerReport {
  readonly acknowledged: number;
  /** Keys that were acknowledged and are not there. */
  readonly lost: readonly string[];
  /** Keys that a linearizable read did not find right after they were acknowledged. */
  readonly unread: readonly string[];
}

export interface EtcdLedger {
  readonly acknowledged: number;
  mark(): void;
  /** Milliseconds of the longest time between two acknowledged writes of any writer since `mark`. */
  gapSinceMark(): number;
  stop(): void;
  close(): Promise<EtcdLedgerReport>;
}

/** A write that has no answer by then counts as not acknowledged. */
const answerMs = 500;
const pauseMs = 2;
/** Answers are read by the operator's own client, which takes 64 KiB at most. */
const pageSize = 300;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const textOf = (encoded: string): string => Buffer.from(encoded, 'base64').toString();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** `addresses` of the members as they are now: asked anew twice a second. */
export function openEtcdLedger(options: {
  readonly addresses: () => Promise<readonly string[]>;
  readonly writers: number;
  readonly run: string;
  readonly ask: AskEtcd;
}): EtcdLedger {
  const { ask } = options;
  const acknowledged = new Set<string>();
  const unread: string[] = [];
  let known: readonly string[] = [];
  let stopped = false;
  let lastAt = performance.now();
  let longest = 0;

  async function follow(): Promise<void> {
    while (!stopped) {
      known = await options.addresses().catch(() => known);
      await pause(500);
    }
  }

  async function check(key: string, host: string): Promise<void> {
    const found = await ask(host, 'kv/range', { key: base64(key) }, answerMs).catch(() => undefined);
    // No answer is no wrong answer.
    if (found !== undefined && found.kvs === undefined) unread.push(key);
  }

  async function write(writer: number): Promise<void> {
    let turn = writer;
    for (let n = 0; !stopped; n++) {
      const host = known[turn % Math.max(1, known.length)];
      if (host === undefined) {
        await pause(50);
        continue;
      }
      const key = `${options.run}:${writer}:${n}`;
      try {
        const pair = { key: base64(key), value: base64(String(n)) };
        await ask(host, 'kv/put', pair, answerMs);
        const now = performance.now();
        longest = Math.max(longest, now - lastAt);
        lastAt = now;
        acknowledged.add(key);
        const other = known[(turn + 1) % known.length];
        if (n % 10 === 0 && other !== undefined) await check(key, other);
        await pause(pauseMs);
      } catch {
        turn += 1;
        await pause(20);
      }
    }
  }

  const writing = [follow(), ...Array.from({ length: options.writers }, (_, writer) => write(writer))];

  return {
    get acknowledged() {
      return acknowledged.size;
    },
    mark() {
      longest = 0;
      lastAt = performance.now();
    },
    gapSinceMark: () => Math.max(longest, performance.now() - lastAt),
    stop() {
      stopped = true;
    },
    async close() {
      stopped = true;
      await Promise.all(writing);
      let turn = 0;
      // Each member confirms such a read with a majority. One of them may be restarting.
      const found = await until('the keys of the writers read', async () => {
        const addresses = await options.addresses();
        const host = addresses[turn % Math.max(1, addresses.length)] ?? '';
        turn += 1;
        return everything(ask, host, options.run);
      });
      const lost = [...acknowledged].filter((key) => found.get(key) !== key.split(':').at(-1));
      return { acknowledged: acknowledged.size, lost, unread };
    },
  };
}

/** All keys of a run with their values, page by page. */
async function everything(ask: AskEtcd, host: string, run: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const end = base64(`${run};`);
  let key = base64(`${run}:`);
  for (;;) {
    const page = await ask(host, 'kv/range', { key, range_end: end, limit: pageSize }, 10_000);
    const pairs = (page.kvs ?? []) as readonly { readonly key: string; readonly value: string }[];
    for (const pair of pairs) found.set(textOf(pair.key), textOf(pair.value));
    const last = pairs.at(-1);
    if (pairs.length < pageSize || last === undefined) return found;
    key = Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.from([0])]).toString('base64');
  }
}
