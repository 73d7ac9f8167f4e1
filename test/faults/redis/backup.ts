/**
 * What a backup of a simulated Redis holds, and how it gets there: the keys at one moment, in a dump that the agent
 * takes for one, and a volume that looks as after a start and a stop.
 */

import type { Origin } from '../../../src/engine/driver/driver.ts';
import { Failure } from '../../../src/engine/driver/failure.ts';
import { Crc64 } from '../../../src/engines/redis/agent/crc64.ts';
import type { RedisDestination, RedisSource } from '../../../src/engines/redis/backup/schemas.ts';
import { type RedisConnection, redisConnection } from '../../../src/engines/redis/client/connection.ts';
import { pairs } from '../../../src/engines/redis/client/reply-fields.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import type { AgentContext, Contents, Database } from '../backup/database.ts';
import { appendOnly, type DataNode, formatOf, type Stored } from './data-node.ts';
import { marker } from './data-volume.ts';
import type { Processes } from './processes.ts';

/** How often, and for how many times, a replica that is behind is asked again: as in the agent. */
const behindMs = 200;
const attempts = 10;
/** From the choice of a node until the dump begins. */
const forkMs = 300;
const origin = 'restored-from.json';
/** Between two steps of filling a volume. */
const stepMs = 150;

/** Magic, the first database with the number of its keys, and from there on JSON instead of keys. */
function header(keys: number): Buffer {
  const size = Buffer.from([0xfe, 0, 0xfb, 0x80, 0, 0, 0, 0, 0]);
  size.writeUInt32BE(keys, 4);
  return Buffer.concat([Buffer.from('REDIS0011'), size]);
}

function write(contents: Contents): Buffer {
  const body = [header(contents.size), Buffer.from(JSON.stringify([...contents])), Buffer.from([0xff])];
  const crc = new Crc64();
  for (const part of body) crc.update(part);
  return Buffer.concat([...body, crc.digest()]);
}

function read(data: Buffer): Contents {
  return new Map(JSON.parse(data.subarray(header(0).length, -9).toString()) as [string, string][]);
}

interface Found {
  readonly host: string;
  readonly node: DataNode;
  readonly port: number;
  readonly isReplica: boolean;
  /** `master_replid`. */
  readonly history: string;
  readonly offset: number;
  /** It let the agent in as the cluster, and not by a password that others may have, too. */
  readonly knowsCluster: boolean;
}

/** What follows `AUTH`; `own` is the cluster's alone. */
interface Logins {
  readonly own: readonly string[] | undefined;
  readonly shared: readonly string[];
}

const lineOf = (content: string): string => content.split('\n', 1)[0] ?? '';

function loginsOf({ passwordFile = '', identity }: RedisSource, { file }: AgentContext): Logins {
  const own = identity === undefined ? undefined : file(identity.passwordFile);
  return {
    own: identity === undefined || own === undefined ? undefined : [identity.user, lineOf(own)],
    shared: [lineOf(file(passwordFile) ?? '')],
  };
}

/** Whether a member let the agent in as the cluster. One that does not know it is asked by the password. */
async function logIn(connection: RedisConnection, { own, shared }: Logins): Promise<boolean> {
  if (own !== undefined) {
    try {
      await connection.command('AUTH', ...own);
      return true;
    } catch (error) {
      if (!(error instanceof RedisError) || error.code !== 'WRONGPASS') throw error;
    }
  }
  await connection.command('AUTH', ...shared);
  return false;
}

export function redisDatabase(processes: Processes): Database {
  /** What a member says of itself, over the network, to who may log in. */
  async function ask(host: string, port: number, logins: Logins, context: AgentContext): Promise<Found> {
    const { network, ip, inTime } = context;
    const giveUp = new AbortController();
    try {
      const stream = await inTime(network.dial(ip, host, port, giveUp.signal), host);
      const connection = redisConnection(stream);
      try {
        const knowsCluster = await inTime(logIn(connection, logins), host);
        const text = String(await inTime(connection.command('INFO', 'replication'), host));
        const node = processes.data(network.resolve(host) ?? '');
        const isReplica = text.includes('role:slave');
        const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1] ?? '';
        const offset = Number(field(isReplica ? 'slave_repl_offset' : 'master_repl_offset'));
        if (node === undefined || (isReplica && !text.includes('master_link_status:up'))) {
          throw new Failure('SourceUnreachable', `${host} follows nobody`);
        }
        return { host, port, node, isReplica, history: field('master_replid'), offset, knowsCluster };
      } finally {
        connection.close();
      }
    } catch (error) {
      giveUp.abort(error);
      if (error instanceof Failure) throw error;
      const isRefusal = error instanceof RedisError && /^(WRONGPASS|NOAUTH)/.test(error.message);
      throw new Failure(isRefusal ? 'SourceRefused' : 'SourceUnreachable', `${host} cannot be asked`, { cause: error });
    }
  }

  /** As in the agent: a majority of the sentinels names the primary, and nobody another. */
  async function requireNamed(
    found: readonly Found[],
    { sentinels }: RedisSource,
    logins: Logins,
    { network, ip, inTime }: AgentContext,
  ): Promise<void> {
    const primary = found.find(({ isReplica }) => !isReplica);
    if (sentinels === undefined || primary === undefined) return;
    const told = await Promise.allSettled(
      sentinels.members.map(async ({ host, port }) => {
        const giveUp = new AbortController();
        const connection = redisConnection(await inTime(network.dial(ip, host, port, giveUp.signal), host));
        try {
          await inTime(logIn(connection, logins), host);
          return pairs(await inTime(connection.command('SENTINEL', 'MASTER', sentinels.name), host));
        } finally {
          connection.close();
          giveUp.abort();
        }
      }),
    );
    const named = told.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const settled = named.filter(({ flags = '' }) => !/down|failover/.test(flags)).length;
    if (named.some((each) => each.ip !== primary.node.ip) || settled * 2 <= sentinels.members.length) {
      throw new Failure('SourceBroken', `no majority of the sentinels names ${primary.host}`);
    }
  }

  /** The furthest replica, once it has what the primary had; the primary where that takes too long. */
  async function choose(found: readonly Found[], again: (each: Found) => Promise<Found>, { pause }: AgentContext) {
    const primary = found.find(({ isReplica }) => !isReplica);
    if (found.some(({ history }) => history !== found[0]?.history)) {
      throw new Failure('SourceBroken', 'they do not replicate from the same primary');
    }
    if (primary === undefined) throw new Failure('SourceBroken', 'no primary answers');
    const [best] = found.filter(({ isReplica }) => isReplica).sort((a, b) => b.offset - a.offset);
    if (best === undefined) return primary;
    let chosen: Found | undefined = best;
    for (let attempt = 1; chosen !== undefined; attempt++) {
      if (chosen.history === primary.history && chosen.offset >= primary.offset) return chosen;
      if (attempt === attempts) break;
      await pause(behindMs);
      chosen = await again(best).catch(() => undefined);
    }
    return primary;
  }

  return {
    engine: 'redis',
    read,
    write,
    hasData: (volume) => volume.has(appendOnly) && volume.has(marker),
    firstClaim: (cluster) => `data-${cluster}-0`,
    async dump(source, context) {
      const { members = [] } = source as RedisSource;
      const logins = loginsOf(source as RedisSource, context);
      const asked = await Promise.allSettled(members.map(({ host, port }) => ask(host, port, logins, context)));
      const told = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const knowing = told.filter(({ knowsCluster }) => knowsCluster);
      const found = knowing.length > 0 ? knowing : told;
      if (found.length === 0) {
        const refused = asked.find((each) => each.status === 'rejected')?.reason as unknown;
        throw refused ?? new Failure('SourceUnreachable', 'there is no member');
      }
      const again = ({ host, port }: Found): Promise<Found> => ask(host, port, logins, context);
      if (found.length < members.length) await requireNamed(found, source as RedisSource, logins, context);
      const chosen = await choose(found, again, context);
      await context.pause(forkMs);
      const { node, host, isReplica } = chosen;
      if (node.hasEnded || node.isFrozen || !context.network.reaches(context.ip, node.ip)) {
        throw new Failure('SourceBroken', `the connection to ${host} broke`);
      }
      const { keys, replid, offset } = node.dataset.snapshot();
      const data = write(keys);
      return {
        engineVersion: `${node.version}.0`,
        topology: { members: found.length, source: host, role: isReplica ? 'replica' : 'primary' },
        content: pieces(data),
        state: () => ({
          engine: 'redis',
          replicationId: replid,
          offset,
          approximateKeys: { 0: keys.size },
          firstDatabase: { number: 0, keys: keys.size, expiring: 0 },
        }),
        close: () => undefined,
      };
    },
    begun(destination, context) {
      const volume = context.volume((destination as RedisDestination).directory);
      const found = volume?.get(origin);
      return typeof found === 'string' ? (JSON.parse(found) as Origin).path : undefined;
    },
    async fill(destination, from, content, context) {
      const { directory } = destination as RedisDestination;
      const volume = context.volume(directory);
      if (volume === undefined) throw new Failure('BadTask', `${directory} cannot be used`);
      const isFrom = volume.has(appendOnly) && volume.get(origin) === JSON.stringify(from);
      if (isFrom && volume.has(marker)) return { isRepeated: true };
      if (!isFrom) {
        const foreign = [...volume.keys()].filter((name) => name !== origin);
        if (foreign.length > 0) throw new Failure('Occupied', `${directory} holds ${foreign.join(', ')}`);
        await context.pause(stepMs);
        volume.set(origin, JSON.stringify(from));
        await context.pause(stepMs);
        const format = formatOf(destination.version ?? '');
        volume.set(appendOnly, { keys: new Map(read(content)), format } satisfies Stored);
      }
      await context.pause(stepMs);
      volume.set(marker, '');
      return { isRepeated: false };
    },
  };
}

async function* pieces(data: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield data;
}
