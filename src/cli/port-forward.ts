/**
 * Connections to pods through the API server, as `kubectl port-forward` makes them: from wherever the API server can be
 * reached, with the user's own rights, and to that very pod. A plain connection to a pod's address could end at a
 * stranger of another network that has the same address, and would hand it the password.
 *
 * The protocol: a WebSocket whose messages begin with a channel, 0 for data and 1 for errors; the first message of each
 * channel is the port.
 */
import { Duplex } from 'node:stream';
import type { Dispatcher, WebSocket } from 'undici';
import { pods } from '../api/resource.ts';
import { ApiError } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';
import { connectorFor } from '../runtime/connector.ts';
import { type Credentials, identityHeaders } from '../runtime/credentials.ts';
import { objectPath } from '../runtime/resource-path.ts';

/** Rejects with `ApiError` where the user may not do this. */
export type PodDialer = (namespace: string, pod: string, port: number, signal: AbortSignal) => Promise<Duplex>;

/** The kubelet has tried, and nobody listens in the pod. */
export class RefusedByPod extends Error {
  override readonly name = 'RefusedByPod';
}

const subprotocol = 'v4.channel.k8s.io';
const dataChannel = 0;

export function portForwarder(credentials: Credentials, client: Pick<KubeClient, 'getText'>): PodDialer {
  return async (namespace, pod, port, signal) => {
    const path = objectPath({ resource: pods, namespace, name: pod }, 'portforward');
    const { Agent, WebSocket } = await import('undici');
    const identity = await credentials.identity();
    signal.throwIfAborted();
    const agent = new Agent({ connect: connectorFor(identity.tls, credentials.tunnel) });
    const socket = new WebSocket(`${credentials.server.replace(/^http/, 'ws')}${path}?ports=${port}`, {
      protocols: [subprotocol],
      dispatcher: agent.compose(withHeaders(identityHeaders(identity))),
    });
    socket.binaryType = 'arraybuffer';
    const release = (): void => void agent.destroy();
    try {
      await opened(socket, signal);
      return forwarded(socket, release);
    } catch (error) {
      release();
      signal.throwIfAborted();
      throw await reasonOf(error, path, client);
    }
  };
}

/** A header of a WebSocket has one value, and several groups that are impersonated are several headers. */
function withHeaders(more: Record<string, string | string[]>): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const given = options.headers as Record<string, string>;
    return dispatch({ ...options, headers: { ...given, ...more } }, handler);
  };
}

function opened(socket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.close();
      reject(signal.reason);
    };
    const settle = (call: () => void) => (): void => {
      signal.removeEventListener('abort', abort);
      call();
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.addEventListener('open', settle(resolve), { once: true });
    socket.addEventListener(
      'error',
      settle(() => reject(new Error('the forwarding was refused'))),
      { once: true },
    );
  });
}

/** A WebSocket does not tell why it was refused; the same path as a plain request does. */
async function reasonOf(error: unknown, path: string, client: Pick<KubeClient, 'getText'>): Promise<unknown> {
  try {
    await client.getText(path);
    return error;
  } catch (cause) {
    return cause instanceof ApiError && cause.status === 403 ? cause : error;
  }
}

function forwarded(socket: WebSocket, release: () => void): Duplex {
  const begun = new Set<number>();
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      socket.send(Buffer.concat([Buffer.from([dataChannel]), chunk]));
      done();
    },
    final(done) {
      socket.close();
      done();
    },
    destroy(error, done) {
      socket.close();
      release();
      done(error);
    },
  });
  socket.addEventListener('message', ({ data }) => {
    const message = Buffer.from(data as ArrayBuffer);
    const [channel = 0] = message;
    if (!begun.has(channel)) begun.add(channel);
    else if (channel === dataChannel) stream.push(message.subarray(1));
    else stream.destroy(new RefusedByPod(message.subarray(1).toString('utf8').trim()));
  });
  socket.addEventListener('close', () => stream.push(null));
  socket.addEventListener('error', () => stream.destroy(new Error('the forwarded connection broke')));
  return stream;
}
