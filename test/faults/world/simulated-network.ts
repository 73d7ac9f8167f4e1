/**
 * The network in memory. Bytes take a fraction of a millisecond, keep their order, and cost one timer for all that one
 * side wrote at one moment.
 *
 * What a cut holds up is not lost but sent again, as TCP does: it arrives, in order, once the cut is healed. Nobody is
 * told meanwhile, and a connection that its one end has given up behind a cut is told to the other end after it.
 */
import { isIP } from 'node:net';
import { Duplex } from 'node:stream';
import type { Random } from '../../../src/system/clock.ts';
import type { Network } from './network.ts';
import type { VirtualTime } from './time.ts';

/** One way, in milliseconds: from the first to the sum of both. */
const latency = { least: 0.2, spread: 0.3 } as const;

/** After which a sender tries again what had not got through. */
const retransmitMs = 200;

type Item = Buffer | 'fin';
type Accept = (stream: Duplex, from: string) => void;

interface Cut {
  readonly some: ReadonlySet<string>;
  readonly others: ReadonlySet<string> | 'all';
}

function separates({ some, others }: Cut, from: string, to: string): boolean {
  const isOther = (address: string): boolean => (others === 'all' ? !some.has(address) : others.has(address));
  return (some.has(from) && isOther(to)) || (some.has(to) && isOther(from));
}

function networkError(code: string, call: string, place: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${call} ${code} ${place}`), { code, syscall: call });
}

export function simulatedNetwork(time: VirtualTime, random: Random): Network {
  const listeners = new Map<string, Accept>();
  const cuts = new Set<Cut>();
  const ends = new Set<End>();
  /** Those, closed ones among them, whose bytes a cut holds up. */
  const holding = new Set<End>();
  /** Connection attempts that a cut holds up. */
  const attempts = new Set<() => void>();
  const delay = (): number => latency.least + latency.spread * random();

  const reaches = (from: string, to: string): boolean => {
    if (cuts.size === 0 || from === to) return true;
    for (const cut of cuts) if (separates(cut, from, to)) return false;
    return true;
  };

  /** One end of a connection. */
  class End extends Duplex {
    readonly #local: string;
    readonly #remote: string;
    #peer: End | undefined;
    #arrivesAt = 0;
    #batch: { readonly sentAt: number; readonly items: Item[] } | undefined;
    #held: Item[] = [];
    #wasReset = false;
    #hasEnded = false;

    constructor(local: string, remote: string) {
      super({ allowHalfOpen: false });
      this.#local = local;
      this.#remote = remote;
      ends.add(this);
    }

    static pair(from: string, to: string): readonly [client: End, server: End] {
      const [client, server] = [new End(from, to), new End(to, from)];
      client.#peer = server;
      server.#peer = client;
      return [client, server];
    }

    override _read(): void {
      // What arrives is pushed at once: there is no window to wait for.
    }

    override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
      this.#send(chunk);
      done();
    }

    override _final(done: (error?: Error | null) => void): void {
      this.#send('fin');
      done();
    }

    override _destroy(error: Error | null, done: (error: Error | null) => void): void {
      ends.delete(this);
      if (!this.#wasReset && !this.writableFinished) this.#send('fin');
      done(error);
    }

    #send(item: Item): void {
      const now = time.monotonic();
      if (this.#batch?.sentAt === now) {
        this.#batch.items.push(item);
        return;
      }
      const batch = { sentAt: now, items: [item] };
      this.#batch = batch;
      this.#arrivesAt = Math.max(this.#arrivesAt, now + delay());
      time.after(this.#arrivesAt - now, () => {
        if (this.#batch === batch) this.#batch = undefined;
        this.#held.push(...batch.items);
        this.flush();
      });
    }

    /** Delivers what has had time to arrive, if anything arrives at all. */
    flush(): void {
      if (!reaches(this.#local, this.#remote)) {
        holding.add(this);
        return;
      }
      holding.delete(this);
      const peer = this.#peer;
      for (const item of this.#held.splice(0)) peer?.receive(item);
    }

    receive(item: Item): void {
      if (this.destroyed || this.#hasEnded) return;
      this.#hasEnded = item === 'fin';
      this.push(item === 'fin' ? null : item);
    }

    reset(): void {
      this.#wasReset = true;
      this.destroy(networkError('ECONNRESET', 'read', this.#remote));
    }

    isOf(address: string): boolean {
      return this.#local === address || this.#remote === address;
    }
  }

  const heal = (cut: Cut): void => {
    if (!cuts.delete(cut)) return;
    time.after(retransmitMs, () => {
      for (const end of [...holding]) end.flush();
      for (const attempt of [...attempts]) attempt();
    });
  };

  const network: Network = {
    resolve: () => undefined,
    reaches,
    listen(address, port, accept) {
      const place = `${address}:${port}`;
      if (listeners.has(place)) throw networkError('EADDRINUSE', 'listen', place);
      listeners.set(place, accept);
      return () => {
        if (listeners.get(place) === accept) listeners.delete(place);
      };
    },
    dial(from, host, port, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const to = isIP(host) === 0 ? network.resolve(host) : host;
        if (to === undefined) return reject(networkError('ENOTFOUND', 'getaddrinfo', host));
        const attempt = (): void => {
          attempts.delete(attempt);
          if (!reaches(from, to)) {
            attempts.add(attempt);
            return;
          }
          signal.removeEventListener('abort', abort);
          const accept = listeners.get(`${to}:${port}`);
          if (accept === undefined) {
            reject(networkError('ECONNREFUSED', 'connect', `${to}:${port}`));
            return;
          }
          const [client, server] = End.pair(from, to);
          accept(server, from);
          resolve(client);
        };
        const cancel = time.after(2 * delay(), attempt);
        const abort = (): void => {
          cancel();
          attempts.delete(attempt);
          reject(signal.reason);
        };
        signal.addEventListener('abort', abort, { once: true });
      });
    },
    cut(some, others) {
      const cut: Cut = { some: new Set(some), others: others === 'all' ? 'all' : new Set(others) };
      cuts.add(cut);
      return () => heal(cut);
    },
    reset(address) {
      for (const end of [...ends]) if (end.isOf(address)) end.reset();
    },
  };
  return network;
}
