/**
 * A real redis-server, alone in a directory of its own, reached through a socket file: no port, no network. Tests that
 * hold our tables and serializers against the server's own use it, and are skipped where none is installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import type { Reply } from '../../src/engines/redis/client/resp.ts';

/** `7.0`, or undefined where there is no redis-server on the PATH. */
export const installedVersion: string | undefined = /v=(\d+\.\d+)/.exec(
  spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout ?? '',
)?.[1];

export interface RedisServer {
  command(...args: readonly string[]): Promise<Reply>;
  /** `CONFIG GET` of each, by name. */
  settings(...names: readonly string[]): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts with this configuration file; `prepare` fills its directory before. Rejects with what the server says when it does not start.
 *
 * @param program command and first arguments; default: what is installed
 */
export async function startRedisServer(
  config = '',
  prepare?: (directory: string) => void,
  [command, ...first]: readonly [string, ...string[]] = ['redis-server'],
): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'redis-server-'));
  prepare?.(directory);
  const socket = join(directory, 'socket');
  const file = join(directory, 'redis.conf');
  await writeFile(file, `${config}\nport 0\nunixsocket ${socket}\ndir ${directory}\nlogfile ""\n`);
  const child = spawn(command, [...first, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true });
  };
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  try {
    const connection = await connected(socket, () => child.exitCode === null && child.signalCode === null);
    return {
      command: (...args) => connection.command(...args),
      settings: async (...names) => pairs(await connection.command('CONFIG', 'GET', ...names)),
      stop: async () => {
        connection.close();
        await stop();
      },
    };
  } catch (cause) {
    await stop();
    throw new Error(`redis-server did not start:\n${output}`, { cause });
  }
}

/** Tries every few milliseconds, since a server with little to log does not say when it is ready. */
async function connected(path: string, isAlive: () => boolean): Promise<RedisConnection> {
  for (;;) {
    try {
      return await dial(path);
    } catch (error) {
      if (!isAlive()) throw error;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  }
}

function dial(path: string): Promise<RedisConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(redisConnection(socket));
    });
  });
}

function pairs(reply: Reply): Record<string, string> {
  const items = Array.isArray(reply) ? reply.map(String) : [];
  return Object.fromEntries(items.flatMap((name, i) => (i % 2 === 0 ? [[name, items[i + 1] ?? '']] : [])));
}
