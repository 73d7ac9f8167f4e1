/**
 * The clients of one simulated server: who is connected, who is blocked with more to say, and what a server that is
 * frozen or slow does to all of them.
 */
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import type { VirtualTime } from '../world/time.ts';
import type { Client } from './client.ts';

/** `later` where the reply comes by `unblock`; until then nothing else of the client is looked at. */
export const later: unique symbol = Symbol('later');
export type Outcome = Reply | typeof later | { readonly replies: readonly Reply[] };

export class Connections {
  readonly #clients = new Map<Client, { blocked: boolean; readonly waiting: (readonly string[])[] }>();
  readonly #time: VirtualTime;
  readonly #execute: (client: Client, args: readonly string[]) => Outcome;
  #isFrozen = false;
  /** Milliseconds that every reply is late. */
  slowMs = 0;

  constructor(time: VirtualTime, execute: (client: Client, args: readonly string[]) => Outcome) {
    this.#time = time;
    this.#execute = execute;
  }

  get clients(): readonly Client[] {
    return [...this.#clients.keys()];
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  add(client: Client): void {
    this.#clients.set(client, { blocked: false, waiting: [] });
  }

  delete(client: Client): void {
    this.#clients.delete(client);
  }

  receive(client: Client, args: readonly string[]): void {
    const state = this.#clients.get(client);
    state?.waiting.push(args);
    this.#drain(client);
  }

  /** Answers a client that was told `later`, and goes on with what it said meanwhile. */
  unblock(client: Client, reply: Reply): void {
    const state = this.#clients.get(client);
    if (state === undefined) return;
    state.blocked = false;
    this.#answer(client, reply);
    this.#drain(client);
  }

  /** Lets a client's command be looked at once more. */
  retry(client: Client, args: readonly string[]): void {
    const state = this.#clients.get(client);
    if (state === undefined) return;
    state.blocked = false;
    state.waiting.unshift(args);
    this.#drain(client);
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const client of this.clients) this.#drain(client);
  }

  closeAll(which: (client: Client) => boolean = () => true): void {
    for (const client of this.clients) {
      if (!which(client)) continue;
      this.#clients.delete(client);
      client.close();
    }
  }

  #drain(client: Client): void {
    const state = this.#clients.get(client);
    while (state !== undefined && !this.#isFrozen && !state.blocked && this.#clients.has(client)) {
      const args = state.waiting.shift();
      if (args === undefined) return;
      const outcome = this.#execute(client, args);
      if (outcome === later) state.blocked = true;
      else if (typeof outcome === 'object' && outcome !== null && 'replies' in outcome) {
        for (const reply of outcome.replies) this.#answer(client, reply);
      } else this.#answer(client, outcome);
    }
  }

  #answer(client: Client, reply: Reply): void {
    if (this.slowMs === 0) client.send(reply);
    else this.#time.after(this.slowMs, () => client.send(reply));
  }
}
