/** A server that answers as Redis does, as far as the first bytes of a dump, and then says nothing more. */
import { createServer, type Socket } from 'node:net';

export interface SilentRedis {
  readonly port: number;
  stop(): Promise<void>;
}

const info = 'role:master\r\nredis_version:8.0.5\r\nmaster_repl_offset:0\r\n';

export function silentRedis(): Promise<SilentRedis> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const text = chunk.toString();
      if (text.includes('INFO')) socket.write(`$${info.length}\r\n${info}\r\n`);
      else if (text.includes('PSYNC')) socket.write(`+FULLRESYNC ${'a'.repeat(40)} 0\r\n$1000000\r\nREDIS0011`);
      else socket.write('+OK\r\n');
    });
  });
  return new Promise((resolve, reject) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') return reject(new Error('no port'));
      const stop = (): Promise<void> =>
        new Promise((stopped) => {
          for (const socket of sockets) socket.destroy();
          server.close(() => stopped());
        });
      resolve({ port: address.port, stop });
    }),
  );
}
