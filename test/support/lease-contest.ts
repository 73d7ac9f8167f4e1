/** Processes that want one lease, each with a network and a clock of its own. */
import { expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { createLeaderElection, type LeaderElection } from '../../src/runtime/lease.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { LeaseProcess, LeaseServer } from './lease-server.ts';
import { RecordingLog } from './recording-log.ts';
import { VirtualClock } from './virtual-clock.ts';

/** One contender: leads until it is told to stop or loses the lease. */
export class Contender {
  readonly process: LeaseProcess;
  readonly election: LeaderElection;
  readonly stop = new AbortController();
  signal: AbortSignal | undefined;
  lost: AbortSignal | undefined;
  /** What it has written is answered. */
  isAnswered = true;
  readonly log = new RecordingLog();
  outcome: Promise<string>;
  /** How long its work goes on after it was told to stop. */
  drainMs = 0;

  constructor(identity: string, server: LeaseServer, clock: VirtualClock, jitter = 0) {
    this.process = new LeaseProcess(clock, server);
    const common = {
      namespace: 'ops',
      name: 'controller',
      random: () => jitter,
      log: this.log,
      metrics: createMetrics(),
    };
    this.election = createLeaderElection({
      ...common,
      identity,
      clock: this.process,
      client: this.process.client,
      mayRelease: () => this.isAnswered,
    });
    this.outcome = this.run(async () => undefined);
  }

  /** Starts anew after the last run has ended. */
  run(end: () => Promise<void>): Promise<string> {
    this.outcome = this.election
      .run(this.stop.signal, async ({ stopping: signal, lost }) => {
        this.signal = signal;
        this.lost = lost;
        await new Promise<void>((resolve) => {
          const over = (): void => {
            this.process.after(this.drainMs, resolve);
          };
          if (signal.aborted) over();
          else signal.addEventListener('abort', over);
        });
        await end();
      })
      .catch((error: Error) => `failed: ${error.message}`);
    return this.outcome;
  }

  get leads(): boolean {
    return this.election.isLeader();
  }

  get warnings(): string[] {
    return this.log.entries.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }
}

export function contest(...identities: string[]) {
  const [clock, server] = [new VirtualClock(), new LeaseServer()];
  return { clock, server, contenders: identities.map((identity) => new Contender(identity, server, clock)) };
}

export async function duel() {
  const { clock, server } = contest();
  const a = new Contender('a', server, clock);
  await clock.advance(100);
  const b = new Contender('b', server, clock);
  await clock.advance(1000);
  expect([a.leads, b.leads]).toEqual([true, false]);
  return { clock, server, a, b };
}

export function leaseOf(holderIdentity: string, leaseDurationSeconds: number): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'controller', namespace: 'ops' },
    spec: { holderIdentity, leaseDurationSeconds },
  } as KubeObject;
}
