/**
 * Processes of the operator in a simulated run: the shipped code, on virtual time, with the wire between it and
 * everything else. Whichever ends without having been told to is started again.
 */

import { createMetrics } from '../../../src/runtime/metrics.ts';
import { createOperator } from '../../../src/runtime/operator.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import type { Clock, Random } from '../../../src/system/clock.ts';
import type { Dial } from '../../../src/system/dial.ts';
import { createLog } from '../../../src/system/log.ts';
import { handlers as engines } from '../../support/handlers.ts';
import type { ForesightRecorder } from '../foresight/recorder.ts';
import type { LifeEnd, LifeRecord } from '../record.ts';
import type { Life, Wire } from '../wire/wire.ts';
import type { SimulatedKubernetes } from '../world/kubernetes.ts';
import type { Network } from '../world/network.ts';
import { type PausableClock, pausableClock } from './pausable-clock.ts';
import { withoutTls } from './without-tls.ts';

/** The address that the operator's connections come from. */
export const operatorAddress = '10.2.0.1';

/** How long Kubernetes takes to start the process again. */
const restartMs = 1_000;

export interface Operators {
  start(): void;
  /** SIGKILL. */
  crash(life: Life): void;
  /** SIGTERM to whoever runs; resolves when it has ended. */
  restart(): Promise<void>;
  /** SIGTERM to whoever runs, and nobody is started until `comeBack`. */
  goAway(): Promise<void>;
  comeBack(): void;
  /** Everyone stands still for that long, as under SIGSTOP, while another is started. */
  pause(ms: number): void;
  /** SIGTERM, for good. Resolves with the milliseconds until the last has ended. */
  stop(): Promise<number>;
  readonly lives: readonly LifeRecord[];
  /** The lines of their logs. */
  readonly log: readonly string[];
}

interface Running {
  readonly life: Life;
  readonly record: { -readonly [Key in keyof LifeRecord]: LifeRecord[Key] };
  readonly clock: PausableClock;
  readonly stopping: AbortController;
  ended: Promise<void>;
}

export function createOperators(options: {
  readonly clock: Clock;
  readonly random: Random;
  readonly kubernetes: SimulatedKubernetes;
  readonly network: Network;
  readonly wire: Wire;
  readonly namespace: string;
  readonly foresight: ForesightRecorder;
}): Operators {
  const { clock, random, kubernetes, network, wire, namespace, foresight } = options;
  const all: Running[] = [];
  const log: string[] = [];
  let closed = false;
  let isAway = false;

  const dial: Dial = (host, port, signal) => network.dial(operatorAddress, host, port, signal);
  const alive = (): Running[] => all.filter(({ record }) => record.end === undefined);

  function end(running: Running, how: LifeEnd, error?: unknown): void {
    const { record, life } = running;
    if (record.end !== undefined) return;
    life.dead = true;
    record.end = how;
    record.endedAt = clock.monotonic();
    if (error !== undefined) record.error = error instanceof Error ? error.message : String(error);
    if (how !== 'stopped') again();
  }

  function again(): void {
    clock.after(restartMs, start);
  }

  async function stopAll(): Promise<void> {
    const told = alive();
    for (const { stopping } of told) stopping.abort(new Error('told to stop'));
    await Promise.all(told.map(({ ended }) => ended));
  }

  function start(): void {
    if (closed || isAway) return;
    const life: Life = { id: all.length + 1, dead: false, pausedUntil: 0 };
    const record = { id: life.id, startedAt: clock.monotonic() };
    const own = pausableClock(clock);
    const running: Running = { life, record, clock: own, stopping: new AbortController(), ended: Promise.resolve() };
    all.push(running);
    const identity = `operator-${life.id}`;
    const connect = (): Transport => own.transport(wire.transport(life, kubernetes.transport('clusterwright')));
    const edges = foresight.life(life.id, {
      engines: engines.map(withoutTls),
      transport: connect(),
      dial: wire.dial(life, dial),
    });
    const operator = createOperator({
      ...edges,
      namespaces: [namespace],
      election: { namespace, identity, transport: connect() },
      instance: identity,
      clock: own,
      random,
      log: createLog({ level: 'info', destination: { write: (line) => log.push(line) } }),
      metrics: createMetrics({ process: false }),
    });
    running.ended = operator.run(running.stopping.signal).then(
      () => end(running, 'stopped'),
      (error: unknown) => {
        const isDeposed = error instanceof Error && /lease .*lost|lost to another/.test(error.message);
        end(running, isDeposed ? 'deposed' : 'failed', error);
      },
    );
  }

  return {
    start,
    crash(life) {
      const running = all.find((candidate) => candidate.life === life);
      if (running === undefined || life.dead) return;
      end(running, 'crashed');
      running.stopping.abort(new Error('killed'));
    },
    async restart() {
      await stopAll();
      again();
    },
    goAway() {
      isAway = true;
      return stopAll();
    },
    comeBack() {
      isAway = false;
      start();
    },
    pause(ms) {
      for (const { life, clock: own } of alive()) {
        own.pause(ms);
        life.pausedUntil = clock.monotonic() + ms;
      }
      start();
    },
    async stop() {
      closed = true;
      const begin = clock.monotonic();
      await stopAll();
      return clock.monotonic() - begin;
    },
    get lives() {
      return all.map(({ record }) => record);
    },
    log,
  };
}
