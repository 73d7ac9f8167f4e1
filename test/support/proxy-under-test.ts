/** The proxy on the loopback, with the configuration of its pods, and a client that writes through it all the time. */
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import type { Cluster } from '../../src/api/cluster.ts';
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import type { RedisSpec } from '../../src/engines/redis/kind/schema.ts';
import { haproxyConfig } from '../../src/engines/redis/resources/haproxy-config.ts';
import { freePort } from './free-port.ts';
import type { HaproxyProgram } from './haproxy-program.ts';
import type { LoopbackHosts } from './loopback-hosts.ts';

export interface ProxyOptions {
  readonly hosts: LoopbackHosts;
  readonly program: HaproxyProgram;
  readonly cluster: Cluster<RedisSpec>;
  readonly host: number;
  /** Of the name server. */
  readonly names: number;
}

/** The name server is another, and so is the port that all proxies of this machine would have on 127.0.0.1. */
export async function startProxy({ hosts, program, cluster, host, names }: ProxyOptions): Promise<ChildProcess> {
  const { proxy } = cluster.spec;
  if (proxy === undefined) throw new Error('no proxy');
  const port = String(await freePort());
  const text = haproxyConfig(cluster, proxy)
    .replace('parse-resolv-conf', `nameserver test 127.0.0.1:${names}`)
    .replaceAll('8405', port);
  const file = hosts.write(`haproxy-${host}.cfg`, text);
  const address = hosts.address(host);
  return hosts.run([...program.command, '-db', '-f', file], {
    POD_IP: address,
    BIND: address,
    IP_FAMILY: 'ipv4',
    CLUSTER_DOMAIN: 'cluster.local',
  });
}

export async function statusOf(hosts: LoopbackHosts, host: number, path: string): Promise<number> {
  return (await fetch(`http://${hosts.address(host)}:8404${path}`)).status;
}

export async function open(host: string, port: number, password?: string): Promise<RedisConnection> {
  const socket = connect({ host, port });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', resolve);
  });
  const connection = redisConnection(socket);
  if (password !== undefined) await connection.command('AUTH', password);
  return connection;
}

export interface Writer {
  /** Keys whose write was acknowledged. */
  readonly acknowledged: string[];
  /** The longest time without one since it was asked last, in milliseconds. */
  longestGap(): number;
  stop(): Promise<void>;
}

/** One write after the other. It connects again where the connection ends, or a write is refused. */
export function writeThrough(addresses: readonly string[], password: string, prefix: string): Writer {
  const acknowledged: string[] = [];
  let isOver = false;
  let last = performance.now();
  let longest = 0;
  async function write(): Promise<void> {
    for (let turn = 0; !isOver; turn += 1) {
      let connection: RedisConnection | undefined;
      try {
        connection = await open(addresses[turn % addresses.length] ?? '', 6379, password);
        while (!isOver) {
          const key = `${prefix}:${acknowledged.length}`;
          const { close } = connection;
          const patience = setTimeout(close, 5_000);
          const answer = await connection.command('SET', key, key).finally(() => clearTimeout(patience));
          if (answer !== 'OK') throw new Error('not acknowledged');
          acknowledged.push(key);
          longest = Math.max(longest, performance.now() - last);
          last = performance.now();
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 10));
      } finally {
        connection?.close();
      }
    }
  }
  const done = write();
  return {
    acknowledged,
    longestGap() {
      const gap = Math.max(longest, performance.now() - last);
      longest = 0;
      last = performance.now();
      return Math.round(gap);
    },
    stop: () => {
      isOver = true;
      return done;
    },
  };
}
