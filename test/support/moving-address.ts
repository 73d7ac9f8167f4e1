/**
 * An address that leads to a member of etcd until that one has told the hash of its keys; each connection that is opened
 * afterwards leads elsewhere.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface MovingAddress {
  readonly port: number;
  close(): Promise<void>;
}

/** That of a Service, and then to a member that is cut off: it has the data of when the Service was opened. */
export async function openCutOffService(port: number): Promise<MovingAddress> {
  const snapshot = await (await fetch(`http://127.0.0.1:${port}/v3/maintenance/snapshot`, post('{}'))).text();
  return open(port, (call, answer) => {
    const path = call.url ?? '';
    // A member that knows no majority tells its status all the same, and refuses what is linearizable.
    if (path.endsWith('/kv/range')) {
      answer.writeHead(503).end(JSON.stringify({ error: 'etcdserver: request timed out', code: 14 }));
    } else if (path.endsWith('/maintenance/snapshot')) answer.end(snapshot);
    else pass(port, call, answer);
  });
}

/** To a member of another cluster, which has the address by then. */
export function openReusedAddress(port: number, another: number): Promise<MovingAddress> {
  return open(port, (call, answer) => pass(another, call, answer));
}

function pass(port: number, call: IncomingMessage, answer: ServerResponse): void {
  const inner = request({ host: '127.0.0.1', port, path: call.url, method: 'POST' }, (found) => {
    answer.writeHead(found.statusCode ?? 500);
    found.pipe(answer);
  });
  inner.on('error', () => answer.destroy());
  call.pipe(inner);
}

async function open(
  port: number,
  elsewhere: (call: IncomingMessage, answer: ServerResponse) => void,
): Promise<MovingAddress> {
  let isMoved = false;
  const moved = new WeakSet<Socket>();
  const server = createServer((call, answer) => {
    if (moved.has(call.socket)) elsewhere(call, answer);
    else {
      if (call.url?.endsWith('/maintenance/hashkv')) isMoved = true;
      pass(port, call, answer);
    }
  });
  server.on('connection', (socket: Socket) => {
    if (isMoved) moved.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const post = (body: string): RequestInit => ({ method: 'POST', body });
