/**
 * Keeps a process that no longer leads from writing.
 *
 * The fence stands at the transport, below every retry. It asks when a write begins, and again when a connection takes
 * it: a process that was stopped for a minute and continues in the middle of a loop does not get one more write out, and
 * no write that waited for a connection is sent after the lease is lost.
 */
import type { Transport } from './transport.ts';

/** A write was attempted without the right to write. Nothing was sent. */
export class WriteFenced extends Error {
  readonly code = 'WriteFenced';

  constructor(method: string, path: string) {
    super(`${method} ${path}: not sent, because this process does not hold the lease`);
    this.name = 'WriteFenced';
  }
}

/** Reads always pass; everything else only while `mayWrite` says so. */
export function fencedTransport(transport: Transport, mayWrite: () => boolean): Transport {
  return {
    async request(request) {
      if (request.method === 'GET') return transport.request(request);
      const beforeSend = (): void => {
        if (!mayWrite()) throw new WriteFenced(request.method, request.path);
        request.beforeSend?.();
      };
      beforeSend();
      return transport.request({ ...request, beforeSend });
    },
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
  };
}
