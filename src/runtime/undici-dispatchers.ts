/**
 * undici's HTTP/1.1 client and pool without the rest of the package.
 *
 * Its index also loads fetch, WebSocket, caches and mocks: 9 MB of memory for code that never runs here, an eighth of
 * what the operator may take when idle. The version is pinned, and the transport's tests run against real sockets.
 */
import type { Dispatcher as AnyDispatcher } from 'undici';
import api from 'undici/lib/api/index.js';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';

// The index does this, too: the dispatchers get their `request` method from outside.
Object.assign(Dispatcher.prototype, api);

export { buildConnector, Client, Pool };

export type Response = AnyDispatcher.ResponseData<null>;

/**
 * One request. `beforeSend` is called when a connection takes it, which may be long after, and before its first byte is
 * written; what that throws rejects the request, and the connection serves the next.
 */
export function send(
  dispatcher: AnyDispatcher,
  options: AnyDispatcher.RequestOptions,
  beforeSend: () => void,
): Promise<Response> {
  const gated: Pick<AnyDispatcher, 'dispatch'> = {
    dispatch(dispatchOptions, handler) {
      const take = handler.onConnect?.bind(handler);
      // undici's own answer to a signal that has aborted meanwhile is to cut the connection.
      handler.onConnect = (abort) => {
        beforeSend();
        take?.(abort);
      };
      return dispatcher.dispatch(dispatchOptions, handler);
    },
  };
  return api.request.call(gated, options);
}
