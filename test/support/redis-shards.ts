/** Redis Cluster of real servers, each with an address of its own on the loopback network and a directory that it keeps. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterNode, clusterNodes } from '../../src/engines/redis/client/cluster-nodes.ts';
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import { aclRule, type Identity } from '../../src/engines/redis/client/identity.ts';
import type { Reply } from '../../src/engines/redis/client/resp.ts';
import { slotCount } from '../../src/engines/redis/kind/slots.ts';
import { dialTcp } from '../../src/system/dial.ts';
import type { RedisProgram } from './redis-program.ts';
import { until } from './until.ts';

/** Of the cluster `db` in the namespace `apps`, as `redisCluster` makes it. */
export const identity: Identity = { user: 'clusterwright/apps/db', password: 'own' };
export const clientPassword = 'pass#word';
export const shardSecrets = { 'db-internal': { password: identity.password }, 'db-auth': { password: clientPassword } };

export interface ShardStage {
  readonly isValkey: boolean;
  address(node: number): string;
  /** Its volume. */
  directory(node: number): string;
  /** Starts it, or starts it again with the files that it had. */
  start(...nodes: readonly number[]): Promise<void>;
  /** With SIGKILL. */
  kill(node: number): Promise<void>;
  signal(node: number, signal: NodeJS.Signals): void;
  isRunning(node: number): boolean;
  /** One command on a connection of its own. */
  ask(node: number, ...args: readonly string[]): Promise<Reply>;
  open(node: number): Promise<RedisConnection>;
  view(node: number): Promise<readonly ClusterNode[]>;
  id(node: number): Promise<string>;
  /** Waits until these nodes know each other, and each that the cluster is complete. */
  untilWhole(...nodes: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

let stages = 0;

function network(): string {
  stages++;
  return `127.${10 + (process.pid % 200)}.${((process.pid >> 8) * 64 + 32 + stages) % 250}`;
}

export async function shardStage(program: RedisProgram, lines: readonly string[] = []): Promise<ShardStage> {
  const prefix = network();
  const directory = await mkdtemp(join(tmpdir(), 'redis-shards-'));
  const running = new Map<number, { readonly child: ChildProcess; readonly ended: Promise<void> }>();
  const ids = new Map<number, string>();
  const address = (node: number): string => `${prefix}.${node}`;

  const open = async (node: number): Promise<RedisConnection> => {
    const connection = redisConnection(await dialTcp(address(node), 6379, AbortSignal.timeout(5000)));
    await connection.command('AUTH', identity.user, identity.password);
    return connection;
  };

  const stage: ShardStage = {
    isValkey: program.some((word) => word.includes('valkey')),
    address,
    directory: (node) => join(directory, String(node)),
    open,
    async start(...nodes) {
      await Promise.all(
        nodes.map(async (node) => {
          const own = join(directory, String(node));
          await mkdir(own, { recursive: true });
          const conf = join(own, 'conf');
          const text = [
            ...['port 6379', `bind ${address(node)}`, `dir ${own}`, `logfile ${own}/log`, 'protected-mode no'],
            ...['cluster-enabled yes', 'cluster-config-file nodes.conf', 'cluster-node-timeout 5000'],
            ...['appendonly yes', 'save ""', 'repl-diskless-sync yes', 'repl-diskless-sync-delay 0'],
            ...[
              `cluster-announce-ip ${address(node)}`,
              `bind-source-addr ${address(node)}`,
              'cluster-replica-validity-factor 0',
              'cluster-allow-replica-migration no',
            ],
            ...[`requirepass ${clientPassword}`, `masteruser ${identity.user}`, `masterauth ${identity.password}`],
            `user ${aclRule(identity).join(' ')}`,
            ...lines,
          ];
          await writeFile(conf, `${text.join('\n')}\n`);
          const [command, ...first] = program;
          const child = spawn(command, [...first, conf], { stdio: 'ignore' });
          children.add(child);
          let hasEnded = false;
          const ended = new Promise<void>((resolve) => {
            child.once('exit', () => {
              children.delete(child);
              hasEnded = true;
              resolve();
            });
          });
          running.set(node, { child, ended });
          const connection = await until(
            `node ${node} starts`,
            async () => {
              if (hasEnded) return undefined;
              const opened = await open(node);
              try {
                await opened.command('PING');
                return opened;
              } catch (error) {
                opened.close();
                throw error;
              }
            },
            { withinMs: 30_000, everyMs: 10 },
          );
          if (connection === undefined) throw new Error(`node ${node} does not start`);
          connection.close();
        }),
      );
    },
    async kill(node) {
      const process = running.get(node);
      running.delete(node);
      process?.child.kill('SIGKILL');
      await process?.ended;
    },
    signal: (node, signal) => void running.get(node)?.child.kill(signal),
    isRunning: (node) => running.has(node),
    async ask(node, ...args) {
      const connection = await open(node);
      try {
        return await connection.command(...args);
      } finally {
        connection.close();
      }
    },
    view: async (node) => clusterNodes(await stage.ask(node, 'CLUSTER', 'NODES')),
    async id(node) {
      const id = ids.get(node) ?? String(await stage.ask(node, 'CLUSTER', 'MYID'));
      ids.set(node, id);
      return id;
    },
    untilWhole: (...nodes) =>
      until(
        'the cluster is whole',
        async () => {
          for (const node of nodes) {
            const view = await stage.view(node);
            const text = String(await stage.ask(node, 'CLUSTER', 'INFO'));
            const isKnown = view.length >= nodes.length && view.every((each) => each.linkUp && !each.isHandshake);
            if (!isKnown || !text.includes('cluster_state:ok')) throw new Error(`${node}: ${text}`);
          }
        },
        { withinMs: 30_000, everyMs: 50 },
      ),
    async close() {
      for (const node of [...running.keys()]) await stage.kill(node);
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return stage;
}

/** Has these nodes meet, gives the primaries equal ranges of slots, and has the replicas (by node) follow. */
export async function formCluster(
  stage: ShardStage,
  primaries: readonly number[],
  replicas: Readonly<Record<number, number>> = {},
): Promise<void> {
  const nodes = [...primaries, ...Object.keys(replicas).map(Number)];
  await stage.start(...nodes);
  const [first = 1] = nodes;
  for (const [i, node] of nodes.entries()) await stage.ask(node, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
  for (const [i, node] of primaries.entries()) {
    const from = Math.round((i * slotCount) / primaries.length);
    const to = Math.round(((i + 1) * slotCount) / primaries.length) - 1;
    await stage.ask(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
  }
  for (const node of nodes.slice(1)) await stage.ask(first, 'CLUSTER', 'MEET', stage.address(node), '6379');
  await stage.untilWhole(...nodes);
  for (const [replica, primary] of Object.entries(replicas)) await follow(stage, Number(replica), primary);
}

export async function follow(stage: ShardStage, replica: number, primary: number): Promise<void> {
  const id = await stage.id(primary);
  await until('it may follow', () => stage.ask(replica, 'CLUSTER', 'REPLICATE', id), { withinMs: 10_000 });
  await until(
    'it follows',
    async () => {
      if (!String(await stage.ask(replica, 'INFO', 'replication')).includes('master_link_status:up')) {
        throw new Error('not yet');
      }
    },
    { withinMs: 20_000 },
  );
}

/** Names whose slots are among these, by the server's own count. */
export async function tagsWithin(
  stage: ShardStage,
  [first, last]: readonly [number, number],
  count: number,
): Promise<string[]> {
  const connection = await stage.open(1);
  const tags: string[] = [];
  for (let n = 0; tags.length < count; n += 1000) {
    const names = Array.from({ length: 1000 }, (_, i) => `t${n + i}`);
    const slots = await Promise.all(names.map((name) => connection.command('CLUSTER', 'KEYSLOT', name)));
    tags.push(...names.filter((_, i) => Number(slots[i]) >= first && Number(slots[i]) <= last));
  }
  connection.close();
  return tags.slice(0, count);
}
