/**
 * A client of a simulated PostgreSQL that keeps a ledger: what was acknowledged must be in the database at the end.
 *
 * It writes to whomever the Service of the primary leads to, one row after another. Commits go over no wire: whether a request gets
 * there, and its answer back, is asked of the network.
 */
import { postgresNames } from '../../../src/engines/postgres/names.ts';
import type { LedgerRecord } from '../record.ts';
import type { SimulatedLedger, SimulatedWorld } from '../subject.ts';
import { endpointsOf } from './entrances.ts';
import type { Processes } from './processes.ts';
import type { Server } from './server.ts';

/** The client is no pod: no cut between pods concerns it, except one from everybody. */
const clientAddress = '10.2.0.9';
const paceMs = 400;
const againMs = 50;
const answerMs = 500;
/** A time without an acknowledged write that is worth telling. */
const outageMs = 3_000;

export function openSimulatedLedger(world: SimulatedWorld, processes: Processes): SimulatedLedger {
  const { time, network, cluster } = world;
  const acknowledged: string[] = [];
  const outages: { from: number; to: number }[] = [];
  let isStopped = false;
  let lastAt = time.monotonic();
  let longestGapMs = 0;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      time.after(ms, resolve);
    });

  const entrances = (): readonly string[] => endpointsOf(world, postgresNames(cluster).primary);

  async function commit(host: string, key: string): Promise<boolean> {
    const server = processes.at(host)?.server;
    if (server?.isUp !== true || !network.reaches(clientAddress, host)) {
      // Packets are dropped, or the connection is refused.
      await pause(network.reaches(clientAddress, host) ? 1 : answerMs);
      return false;
    }
    const late = pause(answerMs).then(() => false);
    const isDone = server.commit({ what: 'row', key, value: key }).then(async (isKept) => {
      await pause(1);
      return isKept && network.reaches(clientAddress, host);
    });
    return Promise.race([isDone, late]);
  }

  function acknowledge(key: string): void {
    const now = time.monotonic();
    if (now - lastAt > outageMs) outages.push({ from: lastAt, to: now });
    longestGapMs = Math.max(longestGapMs, now - lastAt);
    lastAt = now;
    acknowledged.push(key);
  }

  async function write(): Promise<void> {
    for (let n = 0; !isStopped; n++) {
      const hosts = entrances();
      const host = hosts[n % Math.max(1, hosts.length)];
      const key = `key:${n}`;
      if (host !== undefined && (await commit(host, key))) {
        acknowledge(key);
        await pause(paceMs);
      } else await pause(againMs);
    }
  }

  async function lost(): Promise<readonly string[]> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const primary = primaryBehind(entrances());
      if (primary !== undefined) return acknowledged.filter((key) => !primary.data.contents.rows.has(key));
      await pause(500);
    }
    return ['everything: it cannot be read: nobody takes writes'];
  }

  function primaryBehind(hosts: readonly string[]): Server | undefined {
    const servers = hosts.flatMap((host) => processes.at(host)?.server ?? []);
    return servers.find((server) => server.isUp && server.role === 'primary');
  }

  const writing = write();
  return {
    async close(): Promise<LedgerRecord> {
      isStopped = true;
      await writing;
      const now = time.monotonic();
      if (now - lastAt > outageMs) outages.push({ from: lastAt, to: now });
      return {
        acknowledged: acknowledged.length,
        lost: acknowledged.length === 0 ? [] : await lost(),
        longestGapMs: Math.max(longestGapMs, now - lastAt),
        outages,
      };
    },
  };
}
