/**
 * Connections through an HTTP proxy, as a kubeconfig's `proxy-url` asks for: the proxy is asked to CONNECT, and what follows is TLS with the
 * API server itself, of which the proxy sees nothing.
 */
import { request as plainRequest, type RequestOptions } from 'node:http';
import { request as securedRequest } from 'node:https';
import type { Socket } from 'node:net';

/** Opens a connection to a host and port. Rejects with `ProxyRefusal` where there is a proxy that does not make one. */
export type Tunnel = (host: string, port: number, timeoutMs: number) => Promise<Socket>;

/** Nothing has reached the server behind it. The message names the proxy, without its password. */
export class ProxyRefusal extends Error {
  readonly code = 'ERR_PROXY_REFUSAL';
  override readonly name = 'ProxyRefusal';
}

/** `proxy`: http or https, with user and password where it wants them. */
export function tunnelThrough(proxy: URL): Tunnel {
  const place = proxy.host;
  return (host, port, timeoutMs) =>
    new Promise((resolve, reject) => {
      const refuse = (why: string, cause?: unknown): void =>
        reject(new ProxyRefusal(`the proxy ${place} ${why}`, { cause }));
      const options = { ...connectRequest(proxy, host, port), timeout: timeoutMs };
      const asked = (proxy.protocol === 'https:' ? securedRequest : plainRequest)(options);
      asked.once('timeout', () => {
        refuse(`said nothing for ${timeoutMs} ms`);
        asked.destroy();
      });
      asked.once('error', (cause) => refuse(`cannot be used: ${cause.message}`, cause));
      asked.once('connect', ({ statusCode }, socket, head) => {
        asked.removeAllListeners('timeout');
        if (statusCode === 200 && head.length === 0) return resolve(socket as Socket);
        socket.destroy();
        refuse(
          statusCode === 200 ? 'spoke before the server did' : `answered ${statusCode} to CONNECT ${host}:${port}`,
        );
      });
      asked.end();
    });
}

function connectRequest(proxy: URL, host: string, port: number): RequestOptions {
  const target = `${host}:${port}`;
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  return {
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...(login === ':' ? {} : { 'proxy-authorization': authorization }) },
    agent: false,
  };
}
