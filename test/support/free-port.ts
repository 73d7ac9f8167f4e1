/**
 * A port of the loopback that nobody listens on, for a process that is about to.
 *
 * It lies below the range from which the kernel gives ports to whoever connects, and is given once by this process: one
 * that the kernel had picked might be somebody's by the time it is used.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
