/** Plain TCP connections to database processes. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>;

/**
 * A listener says nothing itself: where its peer's machine is gone, or the network has forgotten the connection, only probes
 * tell. The kernel's own first one comes after two hours.
 */
const firstProbeMs = 10_000;

/** A plain TCP connection. Rejects on refusal and when the signal aborts, also while connecting. */
export const dialTcp: Dial = (host, port, signal) =>
  new Promise<Duplex>((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: firstProbeMs });
    const abort = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      reject(error);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', fail);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', fail);
      resolve(socket);
    });
  });
