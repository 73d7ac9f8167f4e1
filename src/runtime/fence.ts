/**
 * Keeps a process that no longer leads from writing.
 *
 * The fence stands at the transport, below every retry. It asks when a write begins, and again when a connection takes
 * it: a process that was stopped for a minute and continues in the middle of a loop does not get one more write out, and
 * no write that waited for a connection is sent after the lease is lost.
 */
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import type { UnansweredWrites } from './unanswered-writes.ts';

/** A write was attempted without the right to write. Nothing was sent. */
export class WriteFenced extends Error {
  readonly code = 'WriteFenced';

  constructor(method: string, path: string) {
    super(`${method} ${path}: not sent, because this process does not hold the lease`);
    this.name = 'WriteFenced';
  }
}

/** What a dry run asks changes nothing, and nobody has to wait for its answer. */
function isRead({ method, query }: TransportRequest): boolean {
  return method === 'GET' || query?.dryRun === 'All';
}

/** Reads always pass; everything else only while `mayWrite` says so, and is known to `writes` until it is answered. */
export function fencedTransport(
  transport: Transport,
  mayWrite: () => boolean,
  writes?: Pick<UnansweredWrites, 'track'>,
): Transport {
  async function write(request: TransportRequest, sent?: () => void): Promise<TransportResponse<string>> {
    const ask = (): void => {
      if (!mayWrite()) throw new WriteFenced(request.method, request.path);
    };
    ask();
    const beforeSend = (): void => {
      ask();
      request.beforeSend?.();
      sent?.();
    };
    return transport.request({ ...request, beforeSend });
  }

  return {
    request(request) {
      if (isRead(request)) return transport.request(request);
      return writes === undefined ? write(request) : writes.track((sent) => write(request, sent));
    },
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
  };
}
