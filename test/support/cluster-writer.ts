/** A client of a cluster that follows MOVED and ASK, and a ledger of what was acknowledged. */
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import { RedisError, type Reply } from '../../src/engines/redis/client/resp.ts';
import { dialTcp } from '../../src/system/dial.ts';
import { within } from './redis-client.ts';
import { clientPassword } from './redis-shards.ts';

export interface ClusterClient {
  /** A command with its key at the second place. Rejects where it has not been answered. */
  command(...args: readonly string[]): Promise<Reply>;
  /** The same, and `WAIT 1` on the same connection: rejects where no replica has it. */
  replicated(...args: readonly string[]): Promise<Reply>;
  close(): void;
}

export function clusterClient(addresses: () => readonly string[]): ClusterClient {
  const connections = new Map<string, Promise<RedisConnection>>();
  const owners = new Map<string, string>();

  const connection = (address: string): Promise<RedisConnection> => {
    const known = connections.get(address);
    if (known !== undefined) return known;
    const opened = (async () => {
      const made = redisConnection(await dialTcp(address, 6379, AbortSignal.timeout(1000)));
      void made.closed.then(() => connections.delete(address));
      await made.command('AUTH', clientPassword);
      return made;
    })();
    opened.catch(() => connections.delete(address));
    connections.set(address, opened);
    return opened;
  };

  const run = async (args: readonly string[], isReplicated: boolean): Promise<Reply> => {
    const [, key = ''] = args;
    const tag = /\{(.+?)\}/.exec(key)?.[1] ?? key;
    const all = addresses();
    let address = owners.get(tag) ?? all[Math.floor(Math.random() * all.length)] ?? '';
    let asking = false;
    for (let hop = 0; hop < 8; hop++) {
      try {
        const open = await within(3000, connection(address));
        const first = asking ? open.command('ASKING') : undefined;
        const reply = open.command(...args);
        const waited = isReplicated ? open.command('WAIT', '1', '500') : undefined;
        for (const each of [first, reply, waited]) each?.catch(() => undefined);
        const answer = await within(6000, reply);
        if (isReplicated && Number(await within(6000, waited ?? reply)) < 1) throw new Error('no replica has it');
        return answer;
      } catch (error) {
        if (!(error instanceof RedisError)) {
          owners.delete(tag);
          throw error;
        }
        const [, kind, to] = /^(MOVED|ASK) \d+ (.+):\d+$/.exec(error.message) ?? [];
        if (to === undefined) {
          if (error.code !== 'TRYAGAIN') throw error;
          continue;
        }
        asking = kind === 'ASK';
        address = to;
        if (!asking) owners.set(tag, to);
      }
    }
    throw new Error('too many redirections');
  };

  return {
    command: (...args) => run(args, false),
    replicated: (...args) => run(args, true),
    close: () => {
      for (const each of connections.values()) void each.then((open) => open.close()).catch(() => undefined);
    },
  };
}

export interface Ledger {
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Written, and not acknowledged: it may be there. */
  readonly unanswered: ReadonlySet<string>;
  /** Milliseconds of each command that was answered, ascending. */
  latencies(): readonly number[];
  /** The longest time in which nothing was acknowledged. */
  longestPauseMs(): number;
  /** Each error by its first words, counted. */
  readonly errors: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Every acknowledged write that cannot be read, or reads otherwise. */
export async function lostWrites(addresses: () => readonly string[], ledger: Ledger): Promise<string[]> {
  const client = clusterClient(addresses);
  const lost: string[] = [];
  const entries = [...ledger.acknowledged];
  for (let i = 0; i < entries.length; i += 200) {
    await Promise.all(
      entries.slice(i, i + 200).map(async ([key, value]) => {
        if ((await client.command('GET', key)) !== value) lost.push(key);
      }),
    );
  }
  client.close();
  return lost;
}

/** Writes one key after the other, each once, by so many clients. */
export function startLedger(
  addresses: () => readonly string[],
  options: { readonly clients?: number; readonly isReplicated?: boolean; readonly tags: readonly string[] },
): Ledger {
  const { clients = 3, isReplicated = false, tags } = options;
  const acknowledged = new Map<string, string>();
  const unanswered = new Set<string>();
  const errors = new Map<string, number>();
  const taken: number[] = [];
  let longest = 0;
  let last = performance.now();
  let isStopping = false;
  const write = async (client: ClusterClient, id: number): Promise<void> => {
    for (let n = 0; !isStopping; n++) {
      const key = `{${tags[Math.floor(Math.random() * tags.length)]}}:${id}:${n}`;
      const value = `${key}:${'v'.repeat(20 + (n % 50))}`;
      const began = performance.now();
      unanswered.add(key);
      try {
        await (isReplicated ? client.replicated('SET', key, value) : client.command('SET', key, value));
        unanswered.delete(key);
        acknowledged.set(key, value);
        const now = performance.now();
        taken.push(now - began);
        longest = Math.max(longest, now - last);
        last = now;
      } catch (error) {
        const words = (error as Error).message.split(' ').slice(0, 3).join(' ');
        errors.set(words, (errors.get(words) ?? 0) + 1);
      }
      // The operator and the servers need the machine, too.
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    client.close();
  };
  const writers = Array.from({ length: clients }, (_, id) => write(clusterClient(addresses), id));
  return {
    acknowledged,
    unanswered,
    errors,
    latencies: () => [...taken].sort((a, b) => a - b),
    longestPauseMs: () => longest,
    async stop() {
      isStopping = true;
      await Promise.all(writers);
    },
  };
}
