/**
 * Three read-only pages over HTTP for the kubelet and Prometheus: `/healthz`, `/readyz` and `/metrics`.
 *
 * A check is a function that is asked on every request; it answers with the reason why not, or nothing. A check that
 * throws has failed. No page ever shows more than the names of the checks and those reasons.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

/** Undefined when all is well, otherwise why not, in a few words. */
export type Check = () => string | undefined | Promise<string | undefined>;

export interface HealthOptions {
  /** 0 picks a free one. */
  readonly port: number;
  /** Default all addresses. */
  readonly host?: string | undefined;
  /** Restart me if one of these fails. */
  readonly live: Readonly<Record<string, Check>>;
  /** Send me no traffic, and do not go on with a rollout, while one of these fails. */
  readonly ready: Readonly<Record<string, Check>>;
  readonly metrics?: Pick<Metrics, 'text' | 'contentType'> | undefined;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(options, request.method ?? '', request.url ?? '', response).catch((error: unknown) => {
      send(response, 500, `${error instanceof Error ? error.message : error}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(options: HealthOptions, method: string, url: string, response: ServerResponse): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'only GET\n');
  const [path] = url.split('?');
  switch (path) {
    case '/healthz':
      return sendChecks(response, options.live);
    case '/readyz':
      return sendChecks(response, options.ready);
    case '/metrics':
      if (options.metrics === undefined) return send(response, 404, 'no metrics\n');
      return send(response, 200, await options.metrics.text(), options.metrics.contentType);
    default:
      return send(response, 404, 'not found\n');
  }
}

async function sendChecks(response: ServerResponse, checks: Readonly<Record<string, Check>>): Promise<void> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await ask(check)] as const),
  );
  const lines = results.map(([name, problem]) => (problem === undefined ? `[+] ${name}` : `[-] ${name}: ${problem}`));
  const healthy = results.every(([, problem]) => problem === undefined);
  send(response, healthy ? 200 : 503, `${[...lines, healthy ? 'ok' : 'failed'].join('\n')}\n`);
}

async function ask(check: Check): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
