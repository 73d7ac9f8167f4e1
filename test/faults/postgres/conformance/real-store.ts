/** The simulated API server over HTTPS, for real processes: its time passes as theirs does. Whoever asks is the account of the pods. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { KubeObject } from '../../../../src/api/object.ts';
import type { TransportRequest } from '../../../../src/runtime/transport.ts';
import type { Certificates } from '../../../support/etcd-certificates.ts';
import type { SimulatedKubernetes } from '../../world/kubernetes.ts';
import type { VirtualTime } from '../../world/time.ts';
import { namespace, scope } from './place.ts';

export interface ServedStore {
  readonly port: number;
  close(): Promise<void>;
}

const tickMs = 3;

export async function serveStore(
  kubernetes: SimulatedKubernetes,
  time: VirtualTime,
  certificates: Certificates,
  address: string,
): Promise<ServedStore> {
  const transport = kubernetes.transport('patroni');
  let isOver = false;
  const passing = (async () => {
    const began = performance.now() - time.monotonic();
    while (!isOver) {
      await time.advance(Math.max(0, performance.now() - began - time.monotonic()));
      await new Promise((resolve) => setTimeout(resolve, tickMs));
    }
  })();

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort(new Error('the client is gone')));
    const request = { ...(await requestOf(message)), signal: gone.signal };
    const isWatch = request.query?.watch !== undefined;
    if (!mayDo(kubernetes, request, isWatch)) {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 }));
      return;
    }
    if (!isWatch) {
      const { status, headers, body } = await transport.request(request);
      response.writeHead(status, headers as Record<string, string>);
      response.end(body);
      return;
    }
    const query = { ...request.query, watch: 'true' };
    const { status, headers, body } = await transport.stream({ ...request, query });
    response.writeHead(status, headers as Record<string, string>);
    for await (const chunk of body) response.write(chunk);
    response.end();
  }

  const server = createServer(
    { cert: certificates['tls.crt'], key: certificates['tls.key'] },
    (message, response) =>
      // The client has gone, or the stage is being taken down.
      void answer(message, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const place = server.address();
  if (place === null || typeof place === 'string') throw new Error('the server has no port');
  return {
    port: place.port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      isOver = true;
      await passing;
      await transport.close();
    },
  };
}

async function requestOf(message: IncomingMessage): Promise<TransportRequest> {
  const { pathname, searchParams } = new URL(message.url ?? '/', 'https://api');
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const type = message.headers['content-type'];
  return {
    method: message.method as TransportRequest['method'],
    path: pathname,
    query: Object.fromEntries(searchParams),
    // Of labels and annotations it makes no difference, and the simulated API server knows no strategic patches.
    ...(type === undefined ? {} : { headers: { 'content-type': type.replace('strategic-', '') } }),
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks).toString() }),
  };
}

/** As the Role of the pods says it. */
function mayDo(kubernetes: SimulatedKubernetes, { method, path }: TransportRequest, isWatch: boolean): boolean {
  const [, resource = '', name] =
    new RegExp(`^/api/v1/namespaces/${namespace}/([a-z]+)(?:/([^/]+))?$`).exec(path) ?? [];
  const verbs: Partial<Record<TransportRequest['method'], string>> = {
    PATCH: 'patch',
    POST: 'create',
    DELETE: 'delete',
  };
  const verb = verbs[method] ?? (name !== undefined ? 'get' : isWatch ? 'watch' : 'list');
  const role = kubernetes
    .objects()
    .find(({ kind, metadata }) => kind === 'Role' && metadata.name === `${scope}-postgres`) as Role | undefined;
  return (role?.rules ?? []).some(
    ({ resources, verbs: allowed, resourceNames }) =>
      resources.includes(resource) &&
      allowed.includes(verb) &&
      (resourceNames === undefined || (name !== undefined && resourceNames.includes(name))),
  );
}

interface Role extends KubeObject {
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}
