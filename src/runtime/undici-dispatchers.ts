/**
 * undici's HTTP/1.1 client and pool without the rest of the package.
 *
 * Its index also loads fetch, WebSocket, caches and mocks: 9 MB of memory for code that never runs here, an eighth of
 * what the operator may take when idle. The version is pinned, and the transport's tests run against real sockets.
 */
import api from 'undici/lib/api/index.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';

// The index does this, too: the dispatchers get their `request` method from outside.
Object.assign(Dispatcher.prototype, api);

export { Client, Pool };
