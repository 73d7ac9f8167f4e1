/** Connections through the API server, against a server that speaks the protocol byte by byte. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type PodDialer, portForwarder } from '../../src/cli/port-forward.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { fixedCredentials } from '../../src/runtime/credentials.ts';

/** A binary message of the server, which is not masked. */
function frame(channel: number, content: string | Buffer): Buffer {
  const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(content)]);
  return Buffer.concat([Buffer.from([0x82, payload.length]), payload]);
}

/** The payload of a short message of the client, which is masked. */
function unmasked(data: Buffer): Buffer {
  const length = (data[1] ?? 0) & 0x7f;
  const mask = data.subarray(2, 6);
  return Buffer.from(data.subarray(6, 6 + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
}

/** Port 6379, as both channels begin. */
const port = Buffer.from([0xeb, 0x18]);

interface Peer {
  readonly dial: PodDialer;
  readonly requests: IncomingMessage[];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** `refusal`: the status that every request is answered with. */
async function peer(talk: (socket: Duplex) => void, refusal?: number): Promise<Peer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(refusal ?? 400).end();
  });
  server.on('upgrade', (request, socket) => {
    requests.push(request);
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} No\r\nContent-Length: 0\r\n\r\n`);
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
    socket.write(
      [...head, `Sec-WebSocket-Accept: ${accept}`, 'Sec-WebSocket-Protocol: v4.channel.k8s.io', '', ''].join('\r\n'),
    );
    socket.write(frame(0, port));
    socket.write(frame(1, port));
    socket.on('error', () => undefined);
    talk(socket);
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = {
    async getText(path: string): Promise<string> {
      const { status } = await fetch(`${url}${path}`);
      throw new ApiError({ status, reason: 'Refused', message: 'refused', method: 'GET', path });
    },
  };
  const impersonation = { 'impersonate-user': 'me', 'impersonate-group': ['one', 'two'] };
  const credentials = fixedCredentials(url, { tls: {}, authorization: 'Bearer abc', impersonation });
  return { requests, dial: portForwarder(credentials, client) };
}

const never = new AbortController().signal;

describe('a forwarded connection', () => {
  it('asks for the port of the pod in the name of the user', async () => {
    const { dial, requests } = await peer(() => undefined);
    const stream = await dial('team', 'cache-0', 6379, never);
    stream.destroy();
    const [request] = requests;
    expect(request?.url).toBe('/api/v1/namespaces/team/pods/cache-0/portforward?ports=6379');
    expect(request?.headers.authorization).toBe('Bearer abc');
    expect(request?.headers['sec-websocket-protocol']).toBe('v4.channel.k8s.io');
    const groups = request?.rawHeaders.filter((_, i, all) => all[i - 1]?.toLowerCase() === 'impersonate-group');
    expect(groups).toEqual(['one', 'two']);
  });

  it('carries bytes both ways, without the frame around them', async () => {
    const { dial } = await peer((socket) => {
      socket.on('data', (data: Buffer) => {
        const message = unmasked(data);
        if (message.subarray(1).toString() !== 'PING\r\n') return;
        socket.write(frame(0, '+PO'));
        socket.write(frame(0, 'NG\r\n'));
        socket.end(Buffer.from([0x88, 0]));
      });
    });
    const stream = await dial('team', 'cache-0', 6379, never);
    stream.write('PING\r\n');
    expect(await text(stream)).toBe('+PONG\r\n');
  });

  it('fails with what the server says went wrong', async () => {
    const { dial } = await peer((socket) => socket.write(frame(1, 'connection refused\n')));
    const stream = await dial('team', 'cache-0', 6379, never);
    const [error] = (await once(stream, 'error')) as [Error];
    expect(error.message).toBe('connection refused');
  });

  it('tells a refusal of rights from a pod that cannot be reached', async () => {
    const attempt = async (status: number): Promise<unknown> => {
      const { dial } = await peer(() => undefined, status);
      return dial('team', 'cache-0', 6379, never).catch((error: unknown) => error);
    };
    expect(await attempt(403)).toMatchObject({ name: 'ApiError', status: 403 });
    expect(await attempt(400)).toMatchObject({ message: 'the forwarding was refused' });
  });

  it('gives up when it is told to', async () => {
    const { dial } = await peer(() => undefined);
    const stop = new AbortController();
    stop.abort(new Error('late'));
    await expect(dial('team', 'cache-0', 6379, stop.signal)).rejects.toThrow('late');
  });
});
