/**
 * The wire to one API server, as the two calls that everything above needs.
 *
 * A transport sends exactly once, except that it may repeat a request that the server turned away with 401 after it
 * has renewed its credentials. It knows nothing of resources, retries or JSON, so a test or a fault injector can stand
 * in for it. Failures to get an answer are `ApiUnreachable`; an aborted signal rejects with the signal's reason.
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TransportRequest {
  readonly method: Method;
  /** Absolute, already encoded, without query: `/api/v1/namespaces/a/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Upper bound for the whole exchange, streams excepted. Default: the transport's own, 60 s. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called right before the first byte leaves, however long the request has waited for a connection, and again when it
   * is sent again. What it throws rejects the request, which is then not sent.
   */
  readonly beforeSend?: (() => void) | undefined;
}

export interface TransportResponse<Body> {
  readonly status: number;
  /** Lower-case names; a repeated header is joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

export interface Transport {
  /** One exchange, body read to its end. */
  request(request: TransportRequest): Promise<TransportResponse<string>>;
  /** One exchange on a connection of its own whose body is read as it arrives, for as long as it lasts. */
  stream(request: TransportRequest): Promise<TransportResponse<AsyncIterable<Uint8Array>>>;
  /** Cuts every connection. Requests in flight are rejected. */
  close(): Promise<void>;
}
