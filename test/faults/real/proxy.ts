/**
 * The operator's API server: a TLS server on this machine that hands every request to a transport, and its answer back.
 *
 * One proxy serves one process of the operator, which shows the proxy's own token; who it is to the real server is the
 * transport's business. A request that gets no answer from the transport loses its connection by a reset, as when the
 * machine on the other side is gone.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { stringify } from 'yaml';
import type { Method, Transport, TransportRequest } from '../../../src/runtime/transport.ts';
import { caCertificate, serverCertificate, serverKey } from '../../support/tls.ts';

export interface ApiProxy {
  readonly url: string;
  /** Of an operator whose lease is in that namespace. */
  kubeconfig(namespace: string): string;
  /** Resets every connection; nobody listens any more. */
  refuse(): void;
  /** Listens again, at the same place. */
  accept(): Promise<void>;
  /** Refuses for ever. */
  close(): void;
}

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies readonly Method[];
/** Of the operator's headers, what the real server is told. */
const passedOn = ['content-type', 'accept', 'user-agent'] as const;
/** What is between two machines only; both sides have connections of their own. */
const hopByHop = /^(connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade)$/;

export async function startProxy(transport: Transport): Promise<ApiProxy> {
  const token = randomBytes(16).toString('hex');
  /** By the port of the other side: a reset needs the socket below TLS. */
  const sockets = new Map<number | undefined, Socket>();
  const server = createServer({ key: serverKey, cert: serverCertificate }, (message, response) => {
    relay(message, response).catch(() => reset(response));
  });
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.on('close', () => sockets.delete(remotePort));
  });
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 0;

  function reset(response: ServerResponse): void {
    const { socket } = response;
    sockets.get(socket?.remotePort)?.resetAndDestroy();
    socket?.destroy();
  }

  function listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  }

  async function relay(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort(new Error('the operator has hung up')));
    response.on('error', () => undefined);
    if (message.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"kind":"Status","code":401}');
      return;
    }
    const request = { ...(await requestOf(message)), signal: gone.signal };
    if (request.query?.watch === undefined || request.query.watch === 'false') {
      const answer = await transport.request(request);
      response.writeHead(answer.status, headersOf(answer.headers));
      response.end(answer.body);
      return;
    }
    const answer = await transport.stream(request);
    response.writeHead(answer.status, headersOf(answer.headers));
    response.flushHeaders();
    // Each piece is on its way before the next is asked for: a reset comes after what was sent, half a frame or not.
    for await (const chunk of answer.body) await sent(response, chunk, gone.signal);
    response.end();
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;

  function refuse(): void {
    server.close();
    for (const socket of sockets.values()) socket.resetAndDestroy();
  }

  return {
    url,
    kubeconfig: (namespace) =>
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'proxy',
        contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'operator', namespace } }],
        clusters: [
          {
            name: 'proxy',
            cluster: {
              server: url,
              'certificate-authority-data': Buffer.from(caCertificate).toString('base64'),
            },
          },
        ],
        users: [{ name: 'operator', user: { token } }],
      }),
    refuse,
    accept: () => (server.listening ? Promise.resolve() : listen(port)),
    close: refuse,
  };
}

async function requestOf(message: IncomingMessage): Promise<TransportRequest> {
  const { method = '', url = '/', headers } = message;
  if (!methods.includes(method)) throw new Error(`${method} is no method of the operator`);
  const { pathname, searchParams } = new URL(url, 'https://proxy');
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  return {
    method: method as Method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(passedOn.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []))),
    ...(body === '' ? {} : { body }),
  };
}

function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !hopByHop.test(name));
  return { 'content-type': 'application/json', ...Object.fromEntries(kept) };
}

function sent(response: ServerResponse, chunk: Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    response.write(chunk, (error) => {
      signal.removeEventListener('abort', abort);
      if (error) reject(error);
      else resolve();
    });
  });
}
