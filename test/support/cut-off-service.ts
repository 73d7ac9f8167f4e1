/**
 * A Service before an etcd of which one member is cut off from the others: it leads to a member that is well until that one
 * has told the hash of its keys, and each connection that is opened afterwards to the one that is cut off. That one has the
 * data of when the Service was opened.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface CutOffService {
  readonly port: number;
  close(): Promise<void>;
}

export async function openCutOffService(port: number): Promise<CutOffService> {
  const snapshot = await (await fetch(`http://127.0.0.1:${port}/v3/maintenance/snapshot`, post('{}'))).text();
  let isMoved = false;
  const cutOff = new WeakSet<Socket>();
  const server = createServer((call, answer) => {
    const { url: path = '', socket } = call;
    // A member that knows no majority tells its status all the same, and refuses what is linearizable.
    if (cutOff.has(socket) && path.endsWith('/kv/range')) {
      answer.writeHead(503).end(JSON.stringify({ error: 'etcdserver: request timed out', code: 14 }));
      return;
    }
    if (cutOff.has(socket) && path.endsWith('/maintenance/snapshot')) {
      answer.end(snapshot);
      return;
    }
    if (path.endsWith('/maintenance/hashkv')) isMoved = true;
    const inner = request({ host: '127.0.0.1', port, path, method: 'POST' }, (found) => {
      answer.writeHead(found.statusCode ?? 500);
      found.pipe(answer);
    });
    inner.on('error', () => answer.destroy());
    call.pipe(inner);
  });
  server.on('connection', (socket: Socket) => {
    if (isMoved) cutOff.add(socket);
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
