/**
 * What time it is at the API server, as far as that is later than here. By this machine's clock, which may be hours behind, what
 * the API server has dated would seem to be younger than it is.
 */
import type { Clock } from '../system/clock.ts';
import type { Transport, TransportResponse } from './transport.ts';

export interface ServerTime {
  /** Milliseconds since the epoch: the later of both. */
  latest(): number;
  /** The same transport. Each answer says when it was given. */
  hearing(transport: Transport): Transport;
}

export function createServerTime(clock: Pick<Clock, 'now'>): ServerTime {
  let behindMs = 0;

  async function hear<Body>(asking: Promise<TransportResponse<Body>>): Promise<TransportResponse<Body>> {
    const answer = await asking;
    const said = Date.parse(answer.headers.date ?? '');
    if (!Number.isNaN(said)) behindMs = Math.max(0, said - clock.now());
    return answer;
  }

  return {
    latest: () => clock.now() + behindMs,
    hearing: (transport) => ({
      request: (request) => hear(transport.request(request)),
      stream: (request) => hear(transport.stream(request)),
      close: () => transport.close(),
    }),
  };
}
