/** A redis-server of some version on a port of the loopback: a primary, a replica, a sentinel, whatever its file says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import type { Reply } from '../../src/engines/redis/client/resp.ts';
import { freePort } from './free-port.ts';
import type { RedisProgram } from './redis-program.ts';

export interface RedisProcess {
  readonly port: number;
  readonly directory: string;
  command(...args: readonly string[]): Promise<Reply>;
  kill(): void;
  /** Ends it, and takes its directory away where it was made for it. */
  stop(): Promise<void>;
}

export interface RedisProcessOptions {
  readonly program: RedisProgram;
  /** Lines of the configuration file. */
  readonly config?: readonly string[];
  /** Default: a new one, which goes with the process. */
  readonly directory?: string;
  readonly password?: string;
  readonly isSentinel?: boolean;
}

export async function startRedis(options: RedisProcessOptions): Promise<RedisProcess> {
  const { program, config = [], password, isSentinel = false } = options;
  const port = await freePort();
  const own = mkdtempSync(join(tmpdir(), 'redis-process-'));
  const directory = options.directory ?? join(own, 'data');
  mkdirSync(directory, { recursive: true });
  const file = join(own, 'redis.conf');
  const secured = password === undefined ? [] : [`requirepass ${password}`, `masterauth ${password}`];
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    'save ""',
    ...(isSentinel ? [] : secured),
    ...config,
  ];
  writeFileSync(file, `${lines.filter((line) => !isSentinel || !line.startsWith('save')).join('\n')}\n`);
  const [command, ...first] = program;
  const child = spawn(command, [...first, file, ...(isSentinel ? ['--sentinel'] : [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let connection: RedisConnection | undefined;
  const stop = async (): Promise<void> => {
    connection?.close();
    child.kill('SIGKILL');
    await ended;
    rmSync(own, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    connection = await loaded(port, password, child);
  } catch (cause) {
    await stop();
    throw new Error(`redis-server did not start:\n${output}`, { cause });
  }
  const open = connection;
  return { port, directory, command: (...args) => open.command(...args), kill: () => child.kill('SIGKILL'), stop };
}

/** Connects until the server is there and has loaded its data. */
async function loaded(port: number, password: string | undefined, child: ChildProcess): Promise<RedisConnection> {
  for (;;) {
    try {
      const connection = await dial(port);
      if (password !== undefined) await connection.command('AUTH', password);
      await connection.command('PING');
      return connection;
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

function dial(port: number): Promise<RedisConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(redisConnection(socket));
    });
  });
}
