/**
 * What really reached the API server, and what it answered: recorded below the wire, so that a lost answer or the death
 * of the operator hides nothing.
 */

import type { Transport } from '../../../src/runtime/transport.ts';
import type { Clock } from '../../../src/system/clock.ts';

/** A request that is not a read, with the server's answer. */
export interface Answered {
  readonly life: number;
  /** Milliseconds, when it was sent on and when the answer was there. */
  readonly sentAt: number;
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly status: number;
}

export interface Witness {
  /** Answers to writes, in the order in which they arrived. */
  readonly writes: readonly Answered[];
  /** Requests that the server's authorization turned away: `GET /api/...`. */
  readonly forbidden: readonly string[];
  /** The wire of one life. */
  transport(life: number, inner: Transport): Transport;
}

export function createWitness(clock: Clock): Witness {
  const writes: Answered[] = [];
  const forbidden: string[] = [];
  return {
    writes,
    forbidden,
    transport: (life, inner) => ({
      async request(request) {
        const { method, path, query = {}, body } = request;
        const sentAt = clock.monotonic();
        const answer = await inner.request(request);
        const { status } = answer;
        if (status === 403) forbidden.push(`${method} ${path}`);
        if (method !== 'GET') {
          writes.push({ life, sentAt, at: clock.monotonic(), method, path, query, body, status });
        }
        return answer;
      },
      async stream(request) {
        const answer = await inner.stream(request);
        if (answer.status === 403) forbidden.push(`WATCH ${request.path}`);
        return answer;
      },
      close: () => inner.close(),
    }),
  };
}
