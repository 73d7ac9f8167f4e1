/**
 * What time it is at the API server. What that has dated would seem to be younger than it is by this machine's clock where that
 * is hours behind, and older where it is ahead: every pod that stops would have been stopping for long.
 */
import type { Clock } from '../system/clock.ts';
import type { Transport, TransportResponse } from './transport.ts';

export interface ServerTime {
  /** Milliseconds since the epoch: the later of both. */
  latest(): number;
  /** The earlier of both. */
  earliest(): number;
  /** The same transport. Each answer says when it was given. */
  hearing(transport: Transport): Transport;
}

/** An answer says it in whole seconds, and takes its time to come. */
const inaccuracyMs = 10_000;

export function createServerTime(clock: Pick<Clock, 'now'>): ServerTime {
  /** By how much the API server's time is later than ours. */
  let offMs = 0;

  async function hear<Body>(asking: Promise<TransportResponse<Body>>): Promise<TransportResponse<Body>> {
    const answer = await asking;
    const said = Date.parse(answer.headers.date ?? '');
    if (!Number.isNaN(said)) offMs = said - clock.now();
    return answer;
  }

  return {
    latest: () => clock.now() + Math.max(0, offMs),
    earliest: () => clock.now() + (offMs < -inaccuracyMs ? offMs : 0),
    hearing: (transport) => ({
      request: (request) => hear(transport.request(request)),
      stream: (request) => hear(transport.stream(request)),
      close: () => transport.close(),
    }),
  };
}
