/** The API server in memory behind a real port, for a controller in a process of its own. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TransportRequest } from '../../src/runtime/transport.ts';
import type { ApiInMemory } from '../support/api-in-memory.ts';

export interface ApiDoor {
  /** A file that leads there. */
  readonly kubeconfig: string;
  close(): void;
}

export async function openApiDoor(api: ApiInMemory): Promise<ApiDoor> {
  const server = createServer((request, response) => {
    serve(api, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(await mkdtemp(join(tmpdir(), 'bench-')), 'kubeconfig');
  const config = {
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench', namespace: 'operators' } }],
    clusters: [{ name: 'bench', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'bench', user: { token: 'none' } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function serve(api: ApiInMemory, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://api');
  const query = Object.fromEntries(url.searchParams);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  let body = '';
  for await (const chunk of incoming) body += String(chunk);
  const request: TransportRequest = {
    method: incoming.method as TransportRequest['method'],
    path: url.pathname,
    query,
    headers: { 'content-type': incoming.headers['content-type'] ?? '' },
    ...(body === '' ? {} : { body }),
    signal: gone.signal,
  };
  if (query.watch !== 'true') {
    const answer = await api.transport.request(request);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    return;
  }
  const answer = await api.transport.stream(request);
  response.writeHead(200, { 'content-type': 'application/json' });
  for await (const event of answer.body) response.write(event);
}
