/** Processes that stand for pods: each has an address of its own on the loopback, and the ports that pods have. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisProgram } from './redis-program.ts';

export interface LoopbackHosts {
  /** Of a host that is numbered by the test. */
  address(host: number): string;
  /** Starts a server, or starts it again on what it has written. `lines` of its file; the last of equal ones counts. */
  redis(program: RedisProgram, host: number, lines: readonly string[], isSentinel?: boolean): ChildProcess;
  run(command: readonly [string, ...string[]], env?: Readonly<Record<string, string>>): ChildProcess;
  write(name: string, text: string): string;
  /** A name server that knows hosts by the first part of a name. Resolves with its port. */
  names(hosts: ReadonlyMap<string, number>): Promise<number>;
  output(child: ChildProcess): string;
  close(): Promise<void>;
}

export function loopbackHosts(): LoopbackHosts {
  const home = mkdtempSync(join(tmpdir(), 'loopback-'));
  // Other test files run at the same time, in processes of their own.
  const net = `127.${64 + (process.pid % 128)}.${(process.pid >> 7) % 256}`;
  const children: ChildProcess[] = [];
  const closers: (() => void)[] = [];
  const outputs = new Map<ChildProcess, string>();
  const address = (host: number): string => `${net}.${host}`;

  function run(command: readonly [string, ...string[]], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const [program, ...args] = command;
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => outputs.set(child, (outputs.get(child) ?? '') + chunk.toString()));
    }
    children.push(child);
    return child;
  }

  function write(name: string, text: string): string {
    const path = join(home, name);
    writeFileSync(path, text);
    return path;
  }

  return {
    address,
    run,
    write,
    output: (child) => outputs.get(child) ?? '',
    redis(program, host, lines, isSentinel = false) {
      const directory = join(home, `${isSentinel ? 'sentinel' : 'data'}-${host}`);
      mkdirSync(directory, { recursive: true });
      const at = [
        `bind ${address(host)}`,
        `bind-source-addr ${address(host)}`,
        `dir ${directory}`,
        'protected-mode no',
      ];
      const ports = isSentinel ? ['port 26379'] : ['port 6379', 'save ""', 'appendonly yes'];
      const file = write(
        `${isSentinel ? 'sentinel' : 'data'}-${host}.conf`,
        [...at, ...ports, ...lines, ''].join('\n'),
      );
      return run([...program, file, ...(isSentinel ? ['--sentinel'] : [])]);
    },
    names(hosts) {
      const socket = createSocket('udp4');
      closers.push(() => socket.close());
      socket.on('message', (question, { address: from, port }) => {
        const host = hosts.get(question.toString('latin1', 13, 13 + (question[12] ?? 0)));
        socket.send(answerTo(question, host === undefined ? undefined : address(host)), port, from);
      });
      return new Promise((resolve) => socket.bind(0, '127.0.0.1', () => resolve(socket.address().port)));
    },
    async close() {
      for (const close of closers) close();
      const living = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const ended = living.map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of living) {
        child.kill('SIGKILL');
      }
      await Promise.all(ended);
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** One A record, or that there is no such name. */
function answerTo(question: Buffer, address: string | undefined): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const found = address !== undefined;
  const head = Buffer.from([
    question[0] ?? 0,
    question[1] ?? 0,
    0x85,
    found ? 0x80 : 0x83,
    0,
    1,
    0,
    found ? 1 : 0,
    0,
    0,
    0,
    0,
  ]);
  const asked = question.subarray(12, end);
  if (!found) return Buffer.concat([head, asked]);
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...address.split('.').map(Number)];
  return Buffer.concat([head, asked, Buffer.from(record)]);
}
