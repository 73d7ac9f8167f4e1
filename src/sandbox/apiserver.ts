/**
 * The few requests that the sandbox itself makes to its API server, as the administrator.
 *
 * The address is the one the server listens on; the certificate is checked against the sandbox's own authority.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import type { KubeObject } from '../api/object.ts';
import { codeOf, SandboxError } from './error.ts';
import { addresses, type Layout, paths, ports } from './layout.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

export interface ApiClient {
  /** Rejects only when no answer came. */
  request(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  /** The object at `path`, or undefined where there is none. */
  get<T = KubeObject>(path: string): Promise<T | undefined>;
  /** Creates an object unless one of its name exists. `path` is the path of the collection. */
  create(path: string, object: KubeObject): Promise<void>;
  /** True when the server answers 200 at `path`; a server that does not listen yet is false. */
  answers(path: string): Promise<boolean>;
  close(): void;
}

/** Where the API server listens: on the bridge where there are nodes, else on the loopback. */
export function apiAddress(nodes: number): string {
  return nodes === 0 ? '127.0.0.1' : addresses.bridge;
}

export async function apiClient(layout: Layout, nodes: number): Promise<ApiClient> {
  const { pki } = paths(layout);
  const [ca, token] = await Promise.all([
    readFile(join(pki, 'ca.crt'), 'utf8'),
    readFile(join(pki, 'admin.token'), 'utf8'),
  ]);
  const agent = new Agent({ ca, keepAlive: true });
  const host = apiAddress(nodes);

  const send = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const options = { agent, host, port: ports.apiserver, method, path, headers, timeout: 10_000 };
      const outgoing = httpsRequest(options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
        answer.on('error', (cause) => outgoing.destroy(cause));
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer for 10 s')));
      outgoing.on('error', (cause) =>
        reject(new SandboxError(`the API server does not answer ${method} ${path}: ${cause.message}`, { cause })),
      );
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const refuse = (method: string, path: string, answer: ApiAnswer): SandboxError =>
    new SandboxError(`the API server refuses ${method} ${path} (${answer.status}): ${answer.body.slice(0, 300)}`);

  return {
    request: send,
    async get<T>(path: string) {
      const answer = await send('GET', path);
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw refuse('GET', path, answer);
      return JSON.parse(answer.body) as T;
    },
    async create(path, object) {
      const answer = await send('POST', path, object);
      if (answer.status !== 201 && answer.status !== 409) throw refuse('POST', path, answer);
    },
    async answers(path) {
      try {
        return (await send('GET', path)).status === 200;
      } catch (error) {
        const code = error instanceof SandboxError ? codeOf(error.cause) : undefined;
        if (code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EADDRNOTAVAIL') return false;
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}
