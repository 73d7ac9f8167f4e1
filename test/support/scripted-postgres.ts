/** A server on the loopback that says what a test tells it to, whether or not a PostgreSQL would. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Peer {
  readonly socket: Socket;
  /** The next bytes of the client, whatever they are. */
  heard(): Promise<Buffer>;
  say(...messages: readonly Uint8Array[]): void;
}

export interface ScriptedPostgres {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startScriptedPostgres(talk: (peer: Peer) => Promise<void>): Promise<ScriptedPostgres> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const chunks: Buffer[] = [];
    let arrived: (() => void) | undefined;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      arrived?.();
    });
    const heard = async (): Promise<Buffer> => {
      while (chunks.length === 0)
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      return Buffer.concat(chunks.splice(0));
    };
    void talk({ socket, heard, say: (...messages) => void socket.write(Buffer.concat(messages)) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
