/** A reflector and its store against a misbehaving server, in virtual time over real sockets. */
import { onTestFinished } from 'vitest';
import { configMaps } from '../../src/api/resource.ts';
import { createClient } from '../../src/runtime/client.ts';
import { fixedCredentials } from '../../src/runtime/credentials.ts';
import { createMetrics, type Metrics } from '../../src/runtime/metrics.ts';
import { createReflector, type Reflector } from '../../src/runtime/reflector.ts';
import { type Change, createStore, type Store } from '../../src/runtime/store.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import { summarize } from '../support/api-model.ts';
import { eventually } from '../support/eventually.ts';
import { MisbehavingServer } from '../support/misbehaving-server.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export class Reflection {
  readonly clock = new VirtualClock();
  readonly changes: Change[] = [];
  readonly metrics: Metrics = createMetrics();
  readonly store: Store;
  readonly server: MisbehavingServer;
  readonly reflector: Reflector;
  readonly log = new RecordingLog();
  #pauses = 0;
  readonly #end: () => Promise<void>;
  readonly #stop = new AbortController();

  /** `random` 0.5 makes every jittered delay its nominal value. */
  constructor(server: MisbehavingServer, random: () => number = () => 0.5) {
    this.server = server;
    const credentials = fixedCredentials(server.url, { tls: {} });
    const transport = createTransport({ credentials, userAgent: 'test', clock: systemClock });
    const { clock, metrics, log } = this;
    const client = createClient({ transport, clock, random });
    const store = createStore({ resource: 'configmaps', log, metrics });
    this.store = store;
    store.subscribe((change) => this.changes.push(change));
    this.reflector = createReflector({ client, resource: configMaps, store, clock, random, log, metrics });
    const running = this.reflector.run(this.#stop.signal);
    this.#end = async () => {
      this.#stop.abort(new Error('the test is over'));
      await running;
      await transport.close();
      await server.stop();
    };
  }

  async stop(): Promise<void> {
    await this.#end();
  }

  get summary(): string[] {
    return summarize(this.store.list());
  }

  /** Waits, without moving the clock, until the store shows what the server has. */
  async inSync(): Promise<void> {
    await eventually(
      () => this.store.hasSynced && this.server.openWatches > 0 && equal(this.summary, this.server.model.summary),
      () => `store ${JSON.stringify(this.summary)}, server ${JSON.stringify(this.server.model.summary)}`,
    );
  }

  /** Waits until the reflector pauses between two attempts, and returns how long it means to. */
  async pause(): Promise<number> {
    // While a resumed watch is open, the only timer is its watchdog, which is minutes away.
    const isPausing = (): boolean => this.clock.pending.length === 1 && (this.clock.pending[0] ?? 0) < 100_000;
    await eventually(() => this.#pausing().length > this.#pauses && isPausing());
    this.#pauses = this.#pausing().length;
    return this.clock.pending[0] ?? 0;
  }

  async skipPause(): Promise<number> {
    const pause = await this.pause();
    await this.clock.advance(pause);
    return pause;
  }

  /** Why each watch ended so far. */
  get ends(): unknown[] {
    return this.log.entries.flatMap(({ fields }) => fields.cause ?? []);
  }

  #pausing(): unknown[] {
    return this.ends.filter((cause) => cause !== 'no-initial-events');
  }
}

/** A reflection that ends with the test. */
export async function reflect(prepare: (server: MisbehavingServer) => void = () => undefined): Promise<Reflection> {
  const server = await new MisbehavingServer().start();
  prepare(server);
  const reflection = new Reflection(server);
  onTestFinished(() => reflection.stop());
  return reflection;
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
