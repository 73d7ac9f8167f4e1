/**
 * The shipped bundle as the operator of one run: processes that are killed, paused and started anew, each with a proxy
 * of its own, so that it is always known which process sent what.
 *
 * A process that ends without being told to is started again, as its Deployment would do it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '../../../src/runtime/credentials.ts';
import { createTransport } from '../../../src/runtime/undici-transport.ts';
import type { Clock } from '../../../src/system/clock.ts';
import type { ForesightPlace } from '../../support/foreseen-operator.ts';
import { type OperatorProcess, startOperator } from '../../support/operator-process.ts';
import { until } from '../../support/until.ts';
import type { LifeEnd, LifeRecord } from '../record.ts';
import type { Life, Wire } from '../wire/wire.ts';
import { type ApiProxy, startProxy } from './proxy.ts';
import type { Witness } from './witness.ts';

export interface OperatorOptions {
  readonly bundle: string;
  readonly namespace: string;
  /** Who it is to the real API server. */
  readonly credentials: Credentials;
  /** For kubeconfigs and logs. */
  readonly directory: string;
  readonly clock: Clock;
  readonly wire: Wire;
  readonly witness: Witness;
  readonly foresight: ForesightPlace;
  /** From the death of a process to the start of the next; default 500 ms. */
  readonly restartAfterMs?: number;
}

export interface Operator {
  /** Starts one more process; resolves when it runs. */
  start(): Promise<void>;
  /** SIGKILL, before this returns; the next process starts after a while. */
  crash(life: Life): void;
  /** SIGKILL for all, and a new one. */
  restart(): void;
  /** The process that holds the lease stands still for a while. */
  pause(ms: number): Promise<void>;
  /** No process finds anybody who listens, for a while. */
  refuse(ms: number): Promise<void>;
  /** Resolves when a process says that it leads. */
  leading(): Promise<void>;
  /** SIGTERM to all; resolves when all have ended. */
  stop(): Promise<void>;
  readonly lives: readonly LifeRecord[];
  /** Everything that the processes printed. */
  printed(): Promise<string>;
}

interface Running {
  readonly life: Life;
  readonly proxy: ApiProxy;
  process: OperatorProcess | undefined;
  /** Undefined: nobody asked it to end. */
  asked: LifeEnd | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function createOperator(options: OperatorOptions): Operator {
  const { clock, wire, witness, restartAfterMs = 500 } = options;
  const running = new Set<Running>();
  const lives: Mutable<LifeRecord>[] = [];
  const logFile = join(options.directory, 'operator.log');
  const transport = createTransport({
    credentials: options.credentials,
    userAgent: 'clusterwright-faults',
    clock,
    connections: 32,
  });
  const starting = new Set<Promise<void>>();
  let stopping = false;

  async function start(): Promise<void> {
    const life: Life = { id: lives.length + 1, dead: false };
    const record: Mutable<LifeRecord> = { id: life.id, startedAt: clock.monotonic() };
    lives.push(record);
    const proxy = await startProxy(wire.transport(life, witness.transport(life.id, transport)));
    const each: Running = { life, proxy, process: undefined, asked: undefined };
    const kubeconfig = join(options.directory, `kubeconfig-${life.id}`);
    await writeFile(kubeconfig, proxy.kubeconfig(options.namespace), { mode: 0o600 });
    running.add(each);
    const process = await startOperator({ ...options, kubeconfig, logFile });
    each.process = process;
    void process.ended.then((code) => {
      record.endedAt = clock.monotonic();
      record.end = each.asked ?? endOf(process);
      if (record.end === 'failed') record.error = `exit code ${code}: ${JSON.stringify(process.log.at(-1))}`;
      life.dead = true;
      proxy.close();
      running.delete(each);
      if (!stopping) startLater();
    });
    if (stopping || life.dead) kill(each, 'crashed');
  }

  function startLater(): void {
    const started: Promise<void> = new Promise<void>((resolve) => {
      clock.after(restartAfterMs, resolve);
    })
      .then(() => (stopping ? undefined : start()))
      .finally(() => starting.delete(started));
    starting.add(started);
  }

  function kill(each: Running, why: LifeEnd): void {
    each.life.dead = true;
    each.asked = why;
    if (each.process !== undefined) process.kill(each.process.pid, 'SIGKILL');
    each.proxy.refuse();
  }

  function leader(): Running | undefined {
    return [...running].find((each) => each.process?.log.some(({ message }) => message === 'leading'));
  }

  return {
    start,
    lives,
    crash(life) {
      for (const each of running) if (each.life === life) kill(each, 'crashed');
    },
    restart() {
      for (const each of running) kill(each, 'crashed');
    },
    async pause(ms) {
      const pid = leader()?.process?.pid;
      if (pid === undefined) throw new Error('no process leads');
      process.kill(pid, 'SIGSTOP');
      await new Promise<void>((resolve) => {
        clock.after(ms, resolve);
      });
      process.kill(pid, 'SIGCONT');
    },
    async refuse(ms) {
      const refused = [...running];
      for (const { proxy } of refused) proxy.refuse();
      await new Promise<void>((resolve) => {
        clock.after(ms, resolve);
      });
      await Promise.all(refused.filter(({ life }) => !life.dead).map(({ proxy }) => proxy.accept()));
    },
    async leading() {
      await until(
        'an operator that leads',
        () => {
          if (leader() === undefined) throw new Error('none does');
        },
        { withinMs: 40_000 },
      );
    },
    async stop() {
      stopping = true;
      await Promise.allSettled([...starting]);
      await Promise.all(
        [...running].map(async (each) => {
          each.asked ??= 'stopped';
          if (each.process === undefined) return;
          await each.process.stop().catch(() => each.process?.kill());
        }),
      );
      for (const { proxy } of running) proxy.close();
      await transport.close();
    },
    printed: () => readFile(logFile, 'utf8').catch(() => ''),
  };
}

/** A process that nobody asked to end may do so for one reason only. */
function endOf(process: OperatorProcess): LifeEnd {
  const lost = process.log.some(({ message }) => message === 'leadership lost');
  return lost ? 'deposed' : 'failed';
}
