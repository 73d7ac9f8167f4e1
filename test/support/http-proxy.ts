/** An HTTP proxy that makes tunnels, and asks for a password where it is given one. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export interface HttpProxy {
  readonly url: string;
  /** Where it was asked to connect to. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** `login`: USER:PASSWORD. */
export async function openProxy(login?: string): Promise<HttpProxy> {
  const asked: string[] = [];
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const server: Server = createServer();
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.on('error', () => undefined);
    if (expected !== undefined && request.headers['proxy-authorization'] !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
