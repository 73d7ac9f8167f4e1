/** HTTP/1.1 requests, one after the other, over one connection and no other. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';

export type Ask = (
  path: string,
  content: string,
  headers: Readonly<Record<string, string>>,
) => Promise<IncomingMessage>;

/** Rejects where the peer has ended the connection: nothing is asked over another one. */
export function requestsOver(socket: Duplex): Ask {
  const unused = [socket];
  const createConnection = (_: object, opened: (error: Error | null, stream?: Duplex) => void): void => {
    const [next] = unused.splice(0);
    if (next === undefined) opened(new Error('the connection ended between two requests'));
    else opened(null, next);
  };
  const agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), { createConnection });
  return (path, content, headers) =>
    new Promise((resolve, reject) => {
      const call = request({ agent, method: 'POST', path, headers });
      call.on('error', reject);
      call.once('response', resolve);
      call.end(content);
    });
}
