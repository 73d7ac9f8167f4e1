/**
 * A ledger of what a PostgresCluster has acknowledged to writers that are not ours, and to whom each of them was connected. It is
 * kept in the writers' pod and read from there, so it goes on while the API server or the operator is away.
 */
import { type ClientPod, type ClientPodOptions, startClientPod } from './postgres-client-pod.ts';
import type { PostgresTestCluster } from './postgres-test-cluster.ts';

export interface Acknowledged {
  /** Milliseconds since 1970. All pods have the clock of this machine. */
  readonly at: number;
  readonly key: string;
  /** Of one writer of one run, in the order in which it wrote. */
  readonly writer: string;
  readonly n: number;
  /** Address of the member that acknowledged it. */
  readonly server: string;
}

export interface PostgresLedger {
  /** So far, over all runs of the client. */
  count(): Promise<number>;
  /** All of it, over all runs. */
  acknowledged(): Promise<readonly Acknowledged[]>;
  mark(): void;
  /** Milliseconds of the longest time between two acknowledged writes of any writer since `mark`. */
  gapSinceMark(): Promise<number>;
  /** The longest few of these, longest first, in seconds. */
  gapsSinceMark(overMs: number): Promise<readonly number[]>;
  /** Addresses of members in the order in which they acknowledged since `mark`. One that is twice in it has come back. */
  serversSinceMark(): Promise<readonly string[]>;
  /** When a member acknowledged for the last time since `mark`. */
  lastBy(server: string): Promise<number | undefined>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Asks as the application: through the Service, or one member. */
  query(sql: string, host?: string): Promise<readonly (readonly unknown[])[]>;
  /** Of everything that was acknowledged, what is not in the table. */
  lost(): Promise<readonly string[]>;
  /** What writers met, and how often. */
  errors(): Promise<Readonly<Record<string, number>>>;
  /**
   * Ends the client and goes on with another one, elsewhere, or of another cluster that has the same data. What was acknowledged stays in
   * the ledger.
   */
  move(node?: string, cluster?: PostgresTestCluster): Promise<void>;
}

type Answer = {
  readonly acknowledged: readonly (readonly [at: number, writer: number, n: number, server: string])[];
  readonly errors: Readonly<Record<string, number>>;
};

export async function openPostgresLedger(options: Omit<ClientPodOptions, 'name' | 'writers'>): Promise<PostgresLedger> {
  const entries: Acknowledged[] = [];
  let runs = 0;
  let read = 0;
  let errors: Readonly<Record<string, number>> = {};
  let markedAt = Date.now();
  let reading: Promise<unknown> = Promise.resolve();

  const start = (node: string | undefined, cluster = options.cluster): Promise<ClientPod> => {
    runs += 1;
    read = 0;
    return startClientPod({
      ...options,
      cluster,
      name: runName(),
      writers: 4,
      ...(node === undefined ? {} : { node }),
    });
  };
  const runName = (): string => `ledger-${options.cluster.name}-${runs}`;
  let pod = await start(options.node);

  async function readMore(): Promise<void> {
    for (;;) {
      const answer = (await pod.ask('/acknowledged', { first: String(read) })) as Answer;
      const { length } = answer.acknowledged;
      errors = answer.errors;
      read += length;
      for (const [at, writer, n, server] of answer.acknowledged) {
        const by = `${runName()}/${writer}`;
        entries.push({ at: at * 1000, key: `${by}/${n}`, writer: by, n, server });
      }
      if (length === 0) return;
    }
  }

  /** One after the other: each goes on where the one before it has ended. */
  function refresh(): Promise<void> {
    const next = reading.then(readMore, readMore);
    reading = next;
    return next;
  }

  async function sinceMark(): Promise<readonly Acknowledged[]> {
    await refresh();
    return entries.filter(({ at }) => at >= markedAt);
  }

  async function gaps(): Promise<number[]> {
    const now = Date.now();
    const times = [markedAt, ...(await sinceMark()).map(({ at }) => at), now];
    return times.slice(1).map((at, i) => at - (times[i] ?? at));
  }

  const ledger: PostgresLedger = {
    async count() {
      await refresh();
      return entries.length;
    },
    async acknowledged() {
      await refresh();
      return [...entries];
    },
    mark() {
      markedAt = Date.now();
    },
    gapSinceMark: async () => (await gaps()).reduce((longest, gap) => Math.max(longest, gap), 0),
    gapsSinceMark: async (overMs) =>
      (await gaps())
        .filter((gap) => gap > overMs)
        .sort((a, b) => b - a)
        .map((gap) => Math.round(gap / 10) / 100),
    async serversSinceMark() {
      const servers = (await sinceMark()).map(({ server }) => server);
      return servers.filter((server, i) => server !== servers[i - 1]);
    },
    lastBy: async (server) => (await sinceMark()).findLast((entry) => entry.server === server)?.at,
    async pause() {
      await pod.ask('/pause');
    },
    async resume() {
      await pod.ask('/resume');
    },
    query: async (sql, host) =>
      (await pod.ask('/query', { sql, ...(host === undefined ? {} : { host }) })) as readonly (readonly unknown[])[],
    async lost() {
      await refresh();
      const rows = await ledger.query("select run || '/' || writer || '/' || n from ledger");
      const found = new Set(rows.map(([key]) => key));
      return entries.filter(({ key }) => !found.has(key)).map(({ key }) => key);
    },
    async errors() {
      await refresh();
      return errors;
    },
    async move(node, cluster) {
      // Its process goes on for a while after its pod has gone.
      await pod.ask('/pause');
      await refresh();
      await pod.remove();
      pod = await start(node, cluster);
    },
  };
  return ledger;
}
