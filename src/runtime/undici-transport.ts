/**
 * The transport over real sockets: HTTP/1.1 by undici.
 *
 * Calls share a bounded pool of keep-alive connections. Every stream has a connection of its own, outside the pool, so
 * that watches never starve calls and cutting one watch cuts nothing else. New TLS material means a new pool; the old
 * one finishes what it has begun.
 */
import type { Client as UndiciClient, Pool as UndiciPool } from 'undici';
import type { Clock } from '../system/clock.ts';
import { createAbortScope } from './abort-scope.ts';
import { ApiUnreachable } from './api-error.ts';
import { connectorFor } from './connector.ts';
import { type Credentials, type Identity, identityHeaders, sameIdentity, sameTls, type Tls } from './credentials.ts';
import { maybeSent } from './maybe-sent.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { Client, Pool, type Response, send } from './undici-dispatchers.ts';
import { untilAborted } from './until-aborted.ts';

export interface TransportOptions {
  readonly credentials: Credentials;
  /** See `userAgent`. */
  readonly userAgent: string;
  readonly clock: Clock;
  /** Most calls in flight at once, streams not counted. Default 16: eight already reach a small server's ceiling. */
  readonly connections?: number;
  /** Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Longest silence while waiting for headers, or within the body of a call. Default 30 s. */
  readonly idleTimeoutMs?: number;
  /** Default 60 s. */
  readonly totalTimeoutMs?: number;
}

/** `clusterwright/1.2.3 (controller)`: the API server's audit log and flow control tell components apart by it. */
export function userAgent(version: string, component: string): string {
  return `clusterwright/${version} (${component})`;
}

/** Idle connections close here, well before the API server's 90 s, so that a write never meets a half-closed socket. */
const KEEP_ALIVE_MS = 30_000;
/** First TCP keep-alive probe on a silent watch. */
const TCP_PROBE_MS = 30_000;

export function createTransport(options: TransportOptions): Transport {
  const { credentials, clock } = options;
  const server = new URL(credentials.server);
  const prefix = server.pathname.replace(/\/+$/, '');
  const idleTimeout = options.idleTimeoutMs ?? 30_000;
  const totalTimeout = options.totalTimeoutMs ?? 60_000;

  let pool: { readonly tls: Tls; readonly dispatcher: UndiciPool } | undefined;
  const streams = new Set<UndiciClient>();
  let closed = false;

  const socketOptions = {
    timeout: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelay: TCP_PROBE_MS,
  };
  const connectTo = (tls: Tls) => connectorFor(tls, credentials.tunnel, socketOptions);

  function poolFor(tls: Tls): UndiciPool {
    if (pool !== undefined && sameTls(pool.tls, tls)) return pool.dispatcher;
    const retired = pool?.dispatcher;
    const dispatcher = new Pool(server.origin, {
      connections: options.connections ?? 16,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: idleTimeout,
      bodyTimeout: idleTimeout,
      connect: connectTo(tls),
    });
    pool = { tls, dispatcher };
    // Its remaining requests report their own failures.
    retired?.close().catch(() => undefined);
    return dispatcher;
  }

  function streamClient(tls: Tls): UndiciClient {
    const client = new Client(server.origin, {
      pipelining: 1,
      headersTimeout: idleTimeout,
      bodyTimeout: 0,
      connect: connectTo(tls),
    });
    streams.add(client);
    return client;
  }

  function requestOptions(request: TransportRequest, identity: Identity, signal: AbortSignal | undefined) {
    const query = new URLSearchParams(request.query).toString();
    return {
      method: request.method,
      path: `${prefix}${request.path}${query === '' ? '' : `?${query}`}`,
      headers: {
        'user-agent': options.userAgent,
        accept: 'application/json',
        ...request.headers,
        ...identityHeaders(identity),
      },
      body: request.body ?? null,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /** Repeats the exchange once, with new credentials, if the server turned the first away. */
  async function authenticated<Response extends { readonly status: number }>(
    exchange: (identity: Identity) => Promise<Response>,
    discard: (response: Response) => Promise<void>,
  ): Promise<Response> {
    const identity = await credentials.identity();
    const response = await exchange(identity);
    if (response.status !== 401) return response;
    credentials.invalidate();
    let renewed: Identity;
    try {
      renewed = await credentials.identity();
    } catch (error) {
      await discard(response);
      throw error;
    }
    if (sameIdentity(identity, renewed)) return response;
    await discard(response);
    return exchange(renewed);
  }

  async function call(request: TransportRequest, identity: Identity): Promise<TransportResponse<string>> {
    const scope = createAbortScope(request.signal);
    const limit = request.timeoutMs ?? totalTimeout;
    const cancel = clock.after(limit, () => scope.abort(new Error(`no complete answer within ${limit} ms`)));
    let isSent = false;
    let refusal: unknown;
    const beforeSend = (): void => {
      scope.signal.throwIfAborted();
      try {
        request.beforeSend?.();
      } catch (error) {
        refusal = error;
        throw error;
      }
      isSent = true;
    };
    const exchange = async (): Promise<TransportResponse<string>> => {
      const options = requestOptions(request, identity, scope.signal);
      const response = await send(poolFor(identity.tls), options, beforeSend);
      return { ...head(response), body: await response.body.text() };
    };
    try {
      // What waits in a pool's queue does not hear its signal before a connection takes it.
      return await untilAborted(scope.signal, exchange());
    } catch (error) {
      throw error === refusal ? error : failure(request, error, isSent);
    } finally {
      cancel();
      scope.dispose();
    }
  }

  async function open(
    request: TransportRequest,
    identity: Identity,
  ): Promise<TransportResponse<AsyncIterable<Uint8Array>>> {
    const client = streamClient(identity.tls);
    const release = (): void => {
      streams.delete(client);
      client.destroy().catch(() => undefined);
    };
    try {
      const response = await client.request(requestOptions(request, identity, request.signal));
      return { ...head(response), body: chunks(request, response.body, release) };
    } catch (error) {
      release();
      throw failure(request, error, true);
    }
  }

  return {
    async request(request) {
      refuseIfClosed(request);
      return authenticated(
        (identity) => call(request, identity),
        async () => undefined,
      );
    },
    async stream(request) {
      refuseIfClosed(request);
      return authenticated(
        (identity) => open(request, identity),
        async (refused) => {
          // Its client goes with the first look at the body.
          for await (const _ of refused.body) break;
        },
      );
    },
    async close() {
      closed = true;
      const dispatchers = [...streams, ...(pool === undefined ? [] : [pool.dispatcher])];
      streams.clear();
      pool = undefined;
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
    },
  };

  function refuseIfClosed(request: TransportRequest): void {
    if (request.signal?.aborted) throw request.signal.reason;
    if (closed) throw new ApiUnreachable(request.method, request.path, false, new Error('the transport is closed'));
  }
}

async function* chunks(
  request: TransportRequest,
  body: AsyncIterable<Uint8Array>,
  release: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw failure(request, error, true);
  } finally {
    release();
  }
}

function head(response: Response): Pick<TransportResponse<never>, 'status' | 'headers'> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { status: response.statusCode, headers };
}

function failure(request: TransportRequest, error: unknown, isSent: boolean): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  return new ApiUnreachable(request.method, request.path, isSent && maybeSent(error), error);
}
