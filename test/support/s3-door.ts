/** Stands before an S3 server and refuses requests by their headers, as other servers and buckets do. */
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Door {
  readonly endpoint: string;
  close(): Promise<void>;
}

/**
 * @param refusal the code of the answer; undefined lets the request through
 * @param isLost whether the server's answer is lost on its way back
 */
export async function openDoor(
  to: string,
  refusal: (headers: IncomingHttpHeaders, method: string, url: string) => string | undefined,
  isLost: (method: string, url: string) => boolean = () => false,
): Promise<Door> {
  const { hostname, port } = new URL(to);
  const server = createServer((incoming, answer) => {
    const { headers, method = 'GET', url = '/' } = incoming;
    const code = refusal(headers, method, url);
    if (code !== undefined) {
      incoming.resume();
      incoming.once('end', () => {
        answer.writeHead(code === 'NotImplemented' ? 501 : 400, { 'content-type': 'application/xml' });
        answer.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
      });
      return;
    }
    // The name of the host is signed: it stays.
    const onward = request({ host: hostname, port, method, path: url, headers }, (response) => {
      if (isLost(method, url)) {
        response.resume();
        response.once('end', () => answer.destroy());
        return;
      }
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.once('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
