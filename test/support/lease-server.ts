/** Keeps one Lease as an API server does, for several processes that can each be cut off, slowed down or frozen. */
import type { KubeObject } from '../../src/api/object.ts';
import { ApiError, ApiUnreachable } from '../../src/runtime/api-error.ts';
import type { LeaseOptions } from '../../src/runtime/lease.ts';
import type { Clock } from '../../src/system/clock.ts';

type LeaseClient = LeaseOptions['client'];

interface LeaseObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

export class LeaseServer {
  lease: LeaseObject | undefined;
  writes = 0;
  #version = 0;

  get holder(): unknown {
    return this.lease?.spec.holderIdentity;
  }

  read(): KubeObject {
    if (this.lease === undefined) throw refusal(404, 'NotFound');
    return this.lease;
  }

  create(object: KubeObject): KubeObject {
    if (this.lease !== undefined) throw refusal(409, 'AlreadyExists');
    return this.#store(object);
  }

  replace(object: KubeObject): KubeObject {
    if (object.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) throw refusal(409, 'Conflict');
    return this.#store(object);
  }

  /** Someone writes the lease who asks nobody. */
  seize(holderIdentity: string): void {
    this.#store({ ...this.read(), spec: { ...this.lease?.spec, holderIdentity } });
  }

  #store(object: KubeObject): KubeObject {
    this.writes++;
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.lease = { ...(object as LeaseObject), metadata };
    return this.lease;
  }
}

function refusal(status: number, reason: string): ApiError {
  return new ApiError({ status, reason, message: 'refused', method: 'PUT', path: '/lease' });
}

/** How one process reaches the server. Time goes on for a frozen process, but none of its code runs. */
export class LeaseProcess implements Clock {
  /**
   * `lost-answers`: the server acts, the process hears nothing of it. `silent`: nothing arrives anywhere. `deaf`: nor does
   * a request end when it is aborted, or its time is over.
   */
  network: 'up' | 'down' | 'lost-answers' | 'silent' | 'deaf' = 'up';
  delayMs = 0;
  wallSkewMs = 0;
  readonly #clock: Clock;
  readonly #server: LeaseServer;
  #frozen: (() => void)[] | undefined;

  constructor(clock: Clock, server: LeaseServer) {
    this.#clock = clock;
    this.#server = server;
  }

  freeze(): void {
    this.#frozen ??= [];
  }

  thaw(): void {
    const late = this.#frozen ?? [];
    this.#frozen = undefined;
    for (const call of late) call();
  }

  now(): number {
    return this.#clock.now() + this.wallSkewMs;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, call: () => void): () => void {
    let cancelled = false;
    const cancel = this.#clock.after(ms, () => {
      this.#run(() => {
        if (!cancelled) call();
      });
    });
    return () => {
      cancelled = true;
      cancel();
    };
  }

  readonly client: LeaseClient = {
    get: (_ref, options) => this.#exchange(() => this.#server.read(), options),
    create: (object, options) => this.#exchange(() => this.#server.create(object), options),
    replace: (object, options) => this.#exchange(() => this.#server.replace(object), options),
  };

  #run(call: () => void): void {
    if (this.#frozen === undefined) call();
    else this.#frozen.push(call);
  }

  #exchange<T>(
    act: () => T,
    options: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined } = {},
  ): Promise<T> {
    const unreachable = new ApiUnreachable('PUT', '/lease', true, new Error('the network is gone'));
    if (this.network === 'deaf') return new Promise(() => undefined);
    return new Promise((resolve, reject) => {
      const cancels: (() => void)[] = [];
      const settle = (how: () => void): void => {
        for (const cancel of cancels) cancel();
        options.signal?.removeEventListener('abort', abort);
        how();
      };
      const abort = (): void => settle(() => reject(options.signal?.reason));
      options.signal?.addEventListener('abort', abort, { once: true });
      cancels.push(this.after(options.timeoutMs ?? 60_000, () => settle(() => reject(unreachable))));
      const { network } = this;
      if (network === 'silent') return;
      // Half of the delay on the way there, on the network's own time; half on the way back.
      this.#clock.after(this.delayMs / 2, () => {
        if (network === 'down') return this.#run(() => settle(() => reject(unreachable)));
        let outcome: () => void;
        try {
          const result = act();
          outcome = () => resolve(result);
        } catch (error) {
          outcome = () => reject(error);
        }
        if (network === 'lost-answers') outcome = () => reject(unreachable);
        cancels.push(this.after(this.delayMs / 2, () => settle(outcome)));
      });
    });
  }
}
