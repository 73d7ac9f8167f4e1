/**
 * Stands in for the Redis and Sentinel processes of many clusters: whole ones, in which nothing ever happens. Each
 * member has an address of its own in 127.0.0.0/8, on which it listens and by which its connections are told apart. It
 * speaks as much of the protocol as the controller asks for; no Redis is measured here.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { Cluster } from '../../src/api/cluster.ts';
import { ReplyDecoder } from '../../src/engines/redis/client/resp.ts';
import type { RedisSpec } from '../../src/engines/redis/kind/schema.ts';
import { dataPort, sentinelPort } from '../../src/engines/redis/names.ts';
import type { DataNode, RedisObserved, SentinelNode } from '../../src/engines/redis/observe/observed.ts';
import { sentinelSettings } from '../../src/engines/redis/resources/config.ts';
import { dynamicSettings } from '../../src/engines/redis/resources/settings.ts';
import { processesOf } from '../support/redis-network.ts';
import { encodeReply, type Process } from '../support/scripted-redis.ts';
import { range } from './in-flight.ts';

/** Member of a cluster: data nodes are 0 to 2, sentinels 3 to 5. */
export const members = 6;
const dataNodes = 3;

export function addressOf(cluster: number, member: number): string {
  return `127.${10 + (cluster >> 8)}.${cluster & 255}.${10 + member}`;
}

/** The inverse; undefined for an address that is no member's. */
export function memberAt(address: string): { readonly cluster: number; readonly member: number } | undefined {
  const [loopback, high = 0, low = 0, last = 0] = address.replace('::ffff:', '').split('.').map(Number);
  const member = last - 10;
  if (loopback !== 127 || high < 10 || member < 0 || member >= members) return undefined;
  return { cluster: ((high - 10) << 8) + low, member };
}

/** What the members of a whole cluster say, each of itself. Node 0 is primary. */
function observedOf(i: number, cluster: Cluster<RedisSpec>): RedisObserved {
  const address = (member: number): string => addressOf(i, member);
  const all = [...range(0, members)];
  const replicas = all.slice(1, dataNodes).map(address);
  const sentinels = all.slice(dataNodes);
  const data = all.slice(0, dataNodes).map((member): DataNode => {
    const isPrimary = member === 0;
    return {
      state: 'answering',
      pod: '',
      address: address(member),
      version: '8.0.1',
      role: isPrimary ? 'primary' : 'replica',
      ...(isPrimary ? {} : { follows: address(0) }),
      linkUp: true,
      copyRefused: false,
      fullSyncs: 0,
      offset: 1,
      replicas: isPrimary ? replicas : [],
      failoverEligible: true,
      findings: [],
      usedMemory: 0,
      isStale: false,
      empty: false,
      settings: dynamicSettings(cluster) as Readonly<Record<string, string>>,
    };
  });
  return {
    data,
    sentinels: sentinels.map(
      (member): SentinelNode => ({
        state: 'answering',
        pod: '',
        address: address(member),
        view: {
          primary: address(0),
          epoch: 1,
          primaryDown: false,
          seesPrimary: true,
          authenticated: true,
          failingOver: false,
          settings: { ...sentinelSettings(cluster) },
          replicas: replicas.map((each) => ({ address: each, priority: 100, down: false })),
          peers: sentinels
            .filter((other) => other !== member)
            .map((other) => ({ address: address(other), down: false })),
        },
      }),
    ),
  };
}

export interface StandIn {
  /** Connections accepted so far. */
  readonly accepted: number;
  close(): Promise<void>;
}

/** For the clusters 0 to `n` - 1, of which `clusterAt` tells. Rejects when an address is taken. */
export async function startStandIn(n: number, clusterAt: (i: number) => Cluster<RedisSpec>): Promise<StandIn> {
  const sockets = new Set<Socket>();
  let accepted = 0;

  const processAt = (address: string, port: number): Process | undefined => {
    const at = memberAt(address);
    if (at === undefined) return undefined;
    const processes = processesOf(observedOf(at.cluster, clusterAt(at.cluster)));
    return processes[`${addressOf(at.cluster, at.member)}:${port}`];
  };

  const serve = (port: number) => (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const answer = processAt(socket.localAddress ?? '', port);
    if (answer === undefined) return socket.destroy();
    const decoder = new ReplyDecoder();
    socket.on('data', (chunk: Buffer) => {
      for (const args of decoder.push(chunk))
        socket.write(replyTo(Array.isArray(args) ? args.map(String) : [], answer));
    });
  };

  const places = [...range(0, n)].flatMap((i) =>
    [...range(0, members)].map((member) => ({
      host: addressOf(i, member),
      port: member < dataNodes ? dataPort : sentinelPort,
    })),
  );
  const servers = await Promise.all(places.map(({ host, port }) => listen(createServer(serve(port)), host, port)));
  return {
    get accepted() {
      return accepted;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function replyTo(args: readonly string[], answer: Process): string {
  if (args[0] === 'SUBSCRIBE') {
    return args
      .slice(1)
      .map((channel, i) => encodeReply(['subscribe', channel, i + 1]))
      .join('');
  }
  const reply = args[0] === 'AUTH' ? 'OK' : answer(args.join(' '));
  if (typeof reply === 'object' && reply !== null && 'does' in reply) throw new Error('the stand-in only answers');
  return encodeReply(reply);
}

function listen(server: Server, host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`the stand-in cannot listen on ${host}:${port}`, { cause })));
    server.listen({ port, host }, () => resolve(server));
  });
}
