/**
 * An API server of one resource over real sockets that serves its model faithfully, except where a test tells it not to.
 *
 * Faults are queued and each is used up by the next request of its kind. What a fault does not touch stays correct, so
 * whatever the client went through, its store must end up equal to the model.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Status } from '../../src/runtime/api-error.ts';
import { ApiModel, type ModelEvent } from './api-model.ts';

/** `initial` is a watch that asks for initial events, `watch` one that resumes, `page` a list with a continue token. */
export type RequestKind = 'list' | 'page' | 'watch' | 'initial' | 'other';

export type Fault =
  | {
      readonly at: RequestKind;
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  /** The connection dies before any answer. */
  | { readonly at: RequestKind; readonly drop: true }
  /** After so many lines: an orderly end, a reset, half a line and a reset, or silence for ever. */
  | { readonly at: RequestKind; readonly end: 'clean' | 'reset' | 'mid-line' | 'hang'; readonly after: number }
  /** After so many lines: this line, then an orderly end. */
  | { readonly at: RequestKind; readonly line: string; readonly after: number }
  /** Sends the last so many events of the history again before anything new. */
  | { readonly at: RequestKind; readonly replay: number };

export interface SeenRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ServerBehaviour {
  /** False: sendInitialEvents is refused with `refusal`. `ignored`: an old server that does not know the parameter. */
  initialEvents: boolean | 'ignored';
  refusal: 400 | 422;
  /** In which of its two shapes a forgotten version is reported. */
  goneAs: 'status' | 'event';
  /** Every line is sent in HTTP chunks of so many bytes. */
  chunkBytes: number | undefined;
  /** What happens in the world just before a request is answered. */
  before: (request: SeenRequest) => void;
  /** Answers requests that are neither list nor watch. */
  other: (request: SeenRequest, response: ServerResponse) => void;
}

interface Stream {
  readonly response: ServerResponse;
  readonly fault: Fault | undefined;
  sent: number;
  over: boolean;
  unsubscribe: () => void;
}

export class MisbehavingServer {
  readonly model: ApiModel;
  readonly requests: SeenRequest[] = [];
  readonly behaviour: ServerBehaviour = {
    initialEvents: true,
    refusal: 422,
    goneAs: 'status',
    chunkBytes: undefined,
    before: () => undefined,
    other: (_request, response) => sendStatus(response, 404, { reason: 'NotFound' }),
  };
  readonly #faults: Fault[] = [];
  readonly #streams = new Set<Stream>();
  readonly #sockets = new Set<Socket>();
  readonly #snapshots = new Map<string, ReturnType<ApiModel['list']>>();
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';
  connections = 0;

  constructor(model = new ApiModel(), tls?: ServerOptions) {
    this.model = model;
    this.#scheme = tls === undefined ? 'http' : 'https';
    const handler = (request: IncomingMessage, response: ServerResponse): void => this.#receive(request, response);
    this.#server = tls === undefined ? createServer(handler) : createTlsServer(tls, handler);
    this.#server.on('connection', (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Queues a fault, `times` over. */
  fault(fault: Fault, times = 1): void {
    for (let i = 0; i < times; i++) this.#faults.push(fault);
  }

  get unusedFaults(): number {
    return this.#faults.length;
  }

  count(kind: RequestKind): number {
    return this.requests.filter((request) => request.kind === kind).length;
  }

  /** Watches that are open and not silent. */
  get openWatches(): number {
    return [...this.#streams].filter((stream) => !stream.over).length;
  }

  /** What every minute brings on a real server. */
  bookmark(): void {
    for (const stream of this.#streams) {
      if (!stream.over) this.#line(stream, bookmarkLine(this.model.version, false));
    }
  }

  /** Ends all watches in an orderly way, as at their time-out. */
  endWatches(): void {
    for (const stream of [...this.#streams]) this.#close(stream, 'clean');
  }

  /** Sends a raw line to every watch. */
  say(line: string): void {
    for (const stream of this.#streams) this.#line(stream, line);
  }

  #receive(message: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    message.on('error', () => undefined);
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const url = new URL(message.url ?? '/', 'http://server');
      const query = Object.fromEntries(url.searchParams);
      const request: SeenRequest = {
        kind: kindOf(message.method ?? '', url.pathname, query),
        method: message.method ?? '',
        path: url.pathname,
        query,
        headers: message.headers,
        body: Buffer.concat(chunks).toString(),
      };
      this.requests.push(request);
      this.behaviour.before(request);
      this.#answer(request, response);
    });
  }

  #answer(request: SeenRequest, response: ServerResponse): void {
    const index = this.#faults.findIndex((fault) => fault.at === request.kind);
    const [fault] = index === -1 ? [] : this.#faults.splice(index, 1);
    if (fault !== undefined && 'drop' in fault) {
      response.socket?.resetAndDestroy();
    } else if (fault !== undefined && 'status' in fault) {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.body ?? statusBody(fault.status, {}));
    } else if (request.kind === 'list' || request.kind === 'page') {
      this.#list(request, response);
    } else if (request.kind === 'watch' || request.kind === 'initial') {
      this.#watch(request, response, fault);
    } else {
      this.behaviour.other(request, response);
    }
  }

  #list({ query }: SeenRequest, response: ServerResponse): void {
    const [version = String(this.model.version), offset = '0'] = (query.continue ?? '').split(':').filter(Boolean);
    const all = this.#snapshots.get(version) ?? this.model.list();
    this.#snapshots.set(version, all);
    const start = Number(offset);
    const end = query.limit === undefined ? all.length : start + Number(query.limit);
    const more = end < all.length ? { continue: `${version}:${end}` } : {};
    const items = all.slice(start, end).map(({ apiVersion: _, kind: __, ...item }) => item);
    const body = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: version, ...more }, items };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  #watch({ kind, query }: SeenRequest, response: ServerResponse, fault: Fault | undefined): void {
    const initial = kind === 'initial';
    if (initial && this.behaviour.initialEvents === false) {
      sendStatus(response, this.behaviour.refusal, { message: 'sendInitialEvents is forbidden' });
      return;
    }
    const past = initial ? [] : this.model.since(Number(query.resourceVersion ?? '0'));
    if (past === undefined && this.behaviour.goneAs === 'status') {
      sendStatus(response, 410, { reason: 'Expired', message: 'too old resource version' });
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    response.flushHeaders();
    const stream: Stream = { response, fault, sent: 0, over: false, unsubscribe: () => undefined };
    this.#streams.add(stream);
    response.on('close', () => {
      stream.unsubscribe();
      this.#streams.delete(stream);
    });
    if (past === undefined) {
      this.#line(stream, JSON.stringify({ type: 'ERROR', object: JSON.parse(statusBody(410, { reason: 'Expired' })) }));
      this.#close(stream, 'clean');
      return;
    }
    stream.unsubscribe = this.model.watch((event) => this.#event(stream, event));
    this.#afterEvent(stream);
    if (fault !== undefined && 'replay' in fault) {
      for (const event of this.model.history.slice(-fault.replay)) this.#event(stream, event);
    }
    if (initial) {
      for (const object of this.model.list()) this.#event(stream, { type: 'ADDED', object, version: 0 });
      if (this.behaviour.initialEvents === true) this.#send(stream, bookmarkLine(this.model.version, true));
    }
    for (const event of past) this.#event(stream, event);
  }

  #event(stream: Stream, { type, object }: ModelEvent): void {
    this.#send(stream, JSON.stringify({ type, object }));
  }

  #send(stream: Stream, line: string): void {
    if (stream.over) return;
    const { fault } = stream;
    if (fault !== undefined && 'end' in fault && fault.end === 'mid-line' && stream.sent === fault.after) {
      stream.response.write(line.slice(0, line.length / 2));
      this.#close(stream, 'reset');
      return;
    }
    this.#line(stream, line);
    stream.sent++;
    this.#afterEvent(stream);
  }

  #afterEvent(stream: Stream): void {
    const { fault } = stream;
    if (fault === undefined || !('after' in fault) || fault.after !== stream.sent) return;
    if ('line' in fault) {
      this.#line(stream, fault.line);
      this.#close(stream, 'clean');
    } else if (fault.end !== 'mid-line') {
      this.#close(stream, fault.end);
    }
  }

  #line(stream: Stream, line: string): void {
    if (stream.over) return;
    const bytes = Buffer.from(`${line}\n`);
    const size = this.behaviour.chunkBytes ?? bytes.length;
    for (let start = 0; start < bytes.length; start += size) stream.response.write(bytes.subarray(start, start + size));
  }

  #close(stream: Stream, how: 'clean' | 'reset' | 'hang'): void {
    if (stream.over) return;
    stream.over = true;
    if (how === 'clean') stream.response.end();
    // Lets what was written leave first.
    if (how === 'reset') setImmediate(() => stream.response.socket?.resetAndDestroy());
  }
}

function kindOf(method: string, path: string, query: Readonly<Record<string, string>>): RequestKind {
  if (method !== 'GET' || !path.endsWith('/configmaps')) return 'other';
  if (query.watch === 'true') return query.sendInitialEvents === 'true' ? 'initial' : 'watch';
  return query.continue === undefined ? 'list' : 'page';
}

export function statusBody(code: number, status: Status): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    message: `fault ${code}`,
    ...status,
  });
}

export function errorLine(code: number, status: Status = {}): string {
  return JSON.stringify({ type: 'ERROR', object: JSON.parse(statusBody(code, status)) });
}

function sendStatus(response: ServerResponse, code: number, status: Status): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(statusBody(code, status));
}

function bookmarkLine(version: number, initialEventsEnd: boolean): string {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(version), ...annotations };
  return JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata } });
}
