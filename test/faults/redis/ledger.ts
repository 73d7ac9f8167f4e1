/**
 * A client of a simulated cluster that keeps a ledger: what was acknowledged with WAIT 1 must be readable at the end.
 *
 * It connects to whom the Service leads, or the sentinels name, writes one key after another, and reconnects on any error,
 * as plain clients do.
 */
import { type RedisConnection, redisConnection } from '../../../src/engines/redis/client/connection.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { addressOf, podsOf } from '../readiness.ts';
import type { LedgerRecord } from '../record.ts';
import type { SimulatedLedger, SimulatedWorld } from '../subject.ts';
import { entrances } from './entrance.ts';

/** The client is no pod: no cut between pods concerns it, except one from everybody. */
const clientAddress = '10.2.0.9';
const port = 6379;
/** Between two writes of the one client. */
const paceMs = 400;
const answerMs = 400;
const reconnectMs = 50;
/** A time without an acknowledged write that is worth telling. */
const outageMs = 3_000;

/** A command may have no more parts. */
const keysAtOnce = 1_000;

const sentinelPort = 26379;

/** What a client of Sentinel is told: the first answer counts. Undefined where no sentinel names anybody. */
export async function namedBySentinels(world: SimulatedWorld): Promise<string | undefined> {
  const addresses = [...podsOf(world, 'sentinel').values()].map(addressOf).filter((address) => address !== '');
  for (const address of addresses) {
    try {
      const connection = await openConnection(world, address, sentinelPort);
      const named = connection.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', world.cluster);
      const answer = await within(world, answerMs, named).finally(() => connection.close());
      if (Array.isArray(answer)) return String(answer[0]);
    } catch {
      // It asks the next one.
    }
  }
  return undefined;
}

export function passwordIn({ kubernetes, namespace, cluster }: SimulatedWorld): string {
  const secret = kubernetes
    .objects()
    .find(
      ({ kind, metadata }) =>
        kind === 'Secret' && metadata.namespace === namespace && metadata.name === `${cluster}-auth`,
    );
  return Buffer.from((secret?.data as Record<string, string> | undefined)?.password ?? '', 'base64').toString('utf8');
}

async function within<T>({ time }: SimulatedWorld, ms: number, work: Promise<T>): Promise<T> {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = time.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** With the first of these passwords that is taken; by default with that of the Secret. */
export async function openConnection(
  world: SimulatedWorld,
  host: string,
  at: number,
  passwords: readonly string[] = [passwordIn(world)],
): Promise<RedisConnection> {
  const giveUp = new AbortController();
  const cancel = world.time.after(answerMs, () => giveUp.abort(new Error('not connected in time')));
  try {
    const connection = redisConnection(await world.network.dial(clientAddress, host, at, giveUp.signal));
    await within(world, answerMs, logIn(connection, passwords));
    return connection;
  } finally {
    cancel();
  }
}

async function logIn(connection: RedisConnection, [password = '', ...others]: readonly string[]): Promise<unknown> {
  try {
    return await connection.command('AUTH', password);
  } catch (error) {
    if (others.length === 0 || !(error instanceof RedisError) || error.code !== 'WRONGPASS') throw error;
    return logIn(connection, others);
  }
}

/** `primaryAddress`: where it writes to; by default to whom the Service leads. */
export function openSimulatedLedger(
  world: SimulatedWorld,
  primaryAddress: () => Promise<string | undefined> = async () => entrances(world)[0],
): SimulatedLedger {
  const { time } = world;
  const acknowledged: string[] = [];
  const outages: { from: number; to: number }[] = [];
  /** Clients go on with the password that they were given. A server that has started since may have that of the Secret. */
  const given = passwordIn(world);
  let isStopped = false;
  let lastAt = time.monotonic();
  let longestGapMs = 0;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      time.after(ms, resolve);
    });

  async function connect(): Promise<RedisConnection> {
    const host = await primaryAddress();
    if (host === undefined) throw new Error('nobody takes writes');
    return openConnection(world, host, port, [...new Set([given, passwordIn(world)])]);
  }

  function acknowledge(key: string): void {
    const now = time.monotonic();
    if (now - lastAt > outageMs) outages.push({ from: lastAt, to: now });
    longestGapMs = Math.max(longestGapMs, now - lastAt);
    lastAt = now;
    acknowledged.push(key);
  }

  async function write(): Promise<void> {
    let connection: RedisConnection | undefined;
    for (let n = 0; !isStopped; n++) {
      try {
        connection ??= await connect();
        const key = `key:${n}`;
        const both = Promise.all([
          connection.command('SET', key, String(n)),
          connection.command('WAIT', '1', String(answerMs)),
        ]);
        const [, replicas] = await within(world, answerMs + 100, both);
        if (Number(replicas) >= 1) acknowledge(key);
        await pause(paceMs);
      } catch {
        // What a client does: forget the connection, and ask again where the primary is.
        connection?.close();
        connection = undefined;
        await pause(reconnectMs);
      }
    }
    connection?.close();
  }

  async function lost(): Promise<readonly string[]> {
    for (let attempt = 0; ; attempt++) {
      try {
        const connection = await connect();
        const gone: string[] = [];
        for (let from = 0; from < acknowledged.length; from += keysAtOnce) {
          const keys = acknowledged.slice(from, from + keysAtOnce);
          const values = await within(world, answerMs, connection.command('MGET', ...keys));
          if (!Array.isArray(values)) throw new Error('MGET answered no list');
          gone.push(...keys.filter((key, n) => values[n] !== key.slice('key:'.length)));
        }
        connection.close();
        return gone;
      } catch (error) {
        if (attempt === 20)
          return [`everything: it cannot be read: ${error instanceof Error ? error.message : String(error)}`];
        await pause(500);
      }
    }
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
