/** The transport's own business: TLS, identities that change, time-outs, what becomes of connections. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiUnreachable } from '../../src/runtime/api-error.ts';
import { type Credentials, fixedCredentials, type Identity } from '../../src/runtime/credentials.ts';
import { fencedTransport, WriteFenced } from '../../src/runtime/fence.ts';
import { createTransport, type TransportOptions, userAgent } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import { eventually } from '../support/eventually.ts';
import { MisbehavingServer } from '../support/misbehaving-server.ts';
import * as pem from '../support/tls.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

async function serve(tls?: object): Promise<MisbehavingServer> {
  const server = await new MisbehavingServer(undefined, tls).start();
  onTestFinished(() => server.stop());
  server.behaviour.other = (_request, response) => response.end('{}');
  return server;
}

function connect(credentials: Credentials, options: Partial<TransportOptions> = {}) {
  const transport = createTransport({
    credentials,
    userAgent: userAgent('1.2.3', 'test'),
    clock: systemClock,
    ...options,
  });
  onTestFinished(() => transport.close());
  return transport;
}

const get = { method: 'GET', path: '/version' } as const;
const secured = { key: pem.serverKey, cert: pem.serverCertificate };
const mutual = { ...secured, ca: pem.caCertificate, requestCert: true, rejectUnauthorized: true };

describe('TLS', () => {
  it.each([
    ['its authority', { ca: pem.caCertificate }],
    ['its authority and another name', { ca: pem.caCertificate, servername: 'api.test' }],
    ['nothing at all, on demand', { insecure: true }],
  ])('trusts a server by %s', async (_name, tls) => {
    const server = await serve(secured);
    expect((await connect(fixedCredentials(server.url, { tls })).request(get)).status).toBe(200);
  });

  it.each([
    ['by an unknown authority', {}],
    ['under a name it does not have', { ca: pem.caCertificate, servername: 'other.test' }],
  ])('does not talk to a server %s, and knows that nothing was sent', async (_name, tls) => {
    const server = await serve(secured);
    const failed = connect(fixedCredentials(server.url, { tls })).request({ ...get, method: 'POST', body: '{}' });
    await expect(failed).rejects.toMatchObject({ code: 'ApiUnreachable', maybeSent: false });
    expect(server.requests).toEqual([]);
  });

  it('shows its client certificate, on streams too, and uses a new one from the next request on', async () => {
    const server = await serve(mutual);
    const users: string[] = [];
    server.behaviour.other = (_request, response) => {
      const peer = (response.socket as import('node:tls').TLSSocket).getPeerCertificate();
      users.push(peer.subject.CN as string);
      response.end('{}');
    };
    let cert: Pick<Identity['tls'], 'cert' | 'key'> = { cert: pem.clientCertificate, key: pem.clientKey };
    const transport = connect({
      server: server.url,
      identity: async () => ({ tls: { ca: pem.caCertificate, ...cert } }),
      invalidate: () => undefined,
    });
    await transport.request(get);
    for await (const _ of (await transport.stream(get)).body);
    cert = { cert: pem.otherClientCertificate, key: pem.otherClientKey };
    await transport.request(get);
    expect(users).toEqual(['test client', 'test client', 'second client']);
  });
});

describe('an identity', () => {
  function rotating(server: MisbehavingServer, tokens: string[]) {
    let invalidations = 0;
    const credentials: Credentials = {
      server: server.url,
      identity: async () => ({
        tls: {},
        authorization: `Bearer ${tokens[Math.min(invalidations, tokens.length - 1)]}`,
      }),
      invalidate: () => {
        invalidations++;
      },
    };
    return { credentials, invalidations: () => invalidations };
  }
  const unauthorized = { at: 'other', status: 401 } as const;

  it.each(['request', 'stream'] as const)('that is refused is renewed once, for a %s', async (kind) => {
    const server = await serve();
    server.fault(unauthorized);
    const { credentials } = rotating(server, ['old', 'new']);
    const response = await connect(credentials)[kind]({ ...get, method: 'POST', body: '{}' });
    expect(response.status).toBe(200);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('that is refused for a stream and cannot be renewed leaves no connection behind', async () => {
    const server = await serve();
    server.fault(unauthorized);
    let asked = 0;
    const credentials: Credentials = {
      server: server.url,
      identity: async () => {
        if (asked++ > 0) throw new Error('the token file is gone');
        return { tls: {}, authorization: 'Bearer old' };
      },
      invalidate: () => undefined,
    };
    await expect(connect(credentials).stream(get)).rejects.toThrow('the token file is gone');
    await eventually(() => server.openConnections === 0);
  });

  it('that is refused twice stays refused', async () => {
    const server = await serve();
    server.fault(unauthorized, 5);
    const { credentials } = rotating(server, ['old', 'new', 'newer']);
    expect((await connect(credentials).request(get)).status).toBe(401);
    expect(server.requests.length).toBe(2);
  });

  it('that cannot be renewed costs no second request', async () => {
    const server = await serve();
    server.fault(unauthorized);
    const { credentials, invalidations } = rotating(server, ['only']);
    expect((await connect(credentials).request(get)).status).toBe(401);
    expect([server.requests.length, invalidations()]).toEqual([1, 1]);
  });
});

describe('time', () => {
  it('a call that gets no answer in time is given up, and may have been sent', async () => {
    const server = await serve();
    server.behaviour.other = () => undefined;
    const clock = new VirtualClock();
    const failed = connect(fixedCredentials(server.url, { tls: {} }), { clock })
      .request({ ...get, timeoutMs: 5000 })
      .catch((caught: unknown) => caught);
    await eventually(() => server.requests.length === 1);
    await clock.advance(5000);
    const error = await failed;
    expect(error).toBeInstanceOf(ApiUnreachable);
    expect(error).toMatchObject({
      maybeSent: true,
      message: expect.stringContaining('no complete answer within 5000 ms'),
    });
    expect(clock.pending).toEqual([]);
  });

  it('an aborted call rejects with the reason of its signal', async () => {
    const server = await serve();
    server.behaviour.other = () => undefined;
    const abort = new AbortController();
    const failed = connect(fixedCredentials(server.url, { tls: {} })).request({ ...get, signal: abort.signal });
    await eventually(() => server.requests.length === 1);
    const reason = new Error('leadership lost');
    abort.abort(reason);
    await expect(failed).rejects.toBe(reason);
  });
});

describe('connections', () => {
  it('of streams are their own, and end with them', async () => {
    const server = await serve();
    server.behaviour.other = (_request, response) => response.write('x');
    const transport = connect(fixedCredentials(server.url, { tls: {} }), { connections: 1 });
    const abort = new AbortController();
    const streams = await Promise.all([1, 2, 3].map(() => transport.stream({ ...get, signal: abort.signal })));
    server.behaviour.other = (_request, response) => response.end('{}');
    expect((await transport.request(get)).status).toBe(200);
    expect(server.connections).toBe(4);
    abort.abort(new Error('over'));
    await Promise.all(
      streams.map(async ({ body }) => {
        await expect(
          (async () => {
            for await (const _ of body);
          })(),
        ).rejects.toThrow('over');
      }),
    );
    await eventually(() => server.openConnections === 1);
  });

  it('a path prefix of the server is kept', async () => {
    const server = await serve();
    const transport = connect(fixedCredentials(`${server.url}/k8s/clusters/c-1`, { tls: {} }));
    await transport.request({ ...get, query: { a: 'b c' } });
    expect(server.requests[0]).toMatchObject({ path: '/k8s/clusters/c-1/version', query: { a: 'b c' } });
    expect(server.requests[0]?.headers['user-agent']).toBe('clusterwright/1.2.3 (test)');
  });

  it('bring what is sent, and what the server says of its answer', async () => {
    const server = await serve();
    server.behaviour.other = (_request, response) => {
      response.setHeader('retry-after', '7');
      response.setHeader('warning', ['299 - "a"', '299 - "b"']);
      response.end('{}');
    };
    const transport = connect(fixedCredentials(server.url, { tls: {} }));
    const body = JSON.stringify({ kind: 'ConfigMap' });
    const answer = await transport.request({ method: 'POST', path: '/api/v1/x', body });
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/api/v1/x', body });
    expect(answer.headers).toMatchObject({ 'retry-after': '7', warning: '299 - "a", 299 - "b"' });
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('end with the transport: calls that wait, and streams', async () => {
    const server = await serve();
    const transport = connect(fixedCredentials(server.url, { tls: {} }));
    await transport.request(get);
    server.behaviour.other = (_request, response) => response.write('x');
    const { body } = await transport.stream(get);
    expect(server.openConnections).toBe(2);
    const read = (async () => {
      for await (const _ of body);
    })();
    await Promise.all([expect(read).rejects.toMatchObject({ code: 'ApiUnreachable' }), transport.close()]);
    await eventually(() => server.openConnections === 0);
  });

  it('of a stream that nobody answers are known to be none', async () => {
    const server = await serve();
    const { url } = server;
    await server.stop();
    const opened = connect(fixedCredentials(url, { tls: {} })).stream(get);
    await expect(opened).rejects.toMatchObject({ code: 'ApiUnreachable', maybeSent: false });
  });

  it('after close nothing is sent', async () => {
    const server = await serve();
    const transport = connect(fixedCredentials(server.url, { tls: {} }));
    await transport.close();
    await expect(transport.request(get)).rejects.toMatchObject({ maybeSent: false });
    expect(server.requests).toEqual([]);
  });
});

describe('a call that waits for a connection', () => {
  const patch = { method: 'PATCH', path: '/slow', body: '{}' } as const;

  /** The only connection is taken, by a write that is not answered before `answer` is called. */
  async function busy(tls?: object) {
    const server = await serve(tls);
    let answer: () => void = () => undefined;
    server.behaviour.other = (_request, response) => {
      answer = () => response.end('{}');
    };
    const identity = tls === undefined ? {} : { ca: pem.caCertificate };
    const transport = connect(fixedCredentials(server.url, { tls: identity }), { connections: 1 });
    const first = transport.request(patch);
    await eventually(() => server.requests.length === 1);
    const free = async () => {
      server.behaviour.other = (_request, response) => response.end('{}');
      answer();
      await first;
    };
    return { server, transport, free };
  }

  it.each([
    ['HTTP', undefined],
    ['HTTPS', secured],
  ])('is over as soon as it is aborted, and is never sent: %s', async (_name, tls) => {
    const { server, transport, free } = await busy(tls);
    const abort = new AbortController();
    const waiting = transport.request({ ...patch, path: '/waits', signal: abort.signal });
    const reason = new Error('leadership lost');
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await free();
    expect((await transport.request(get)).status).toBe(200);
    expect([server.requests.map(({ path }) => path), server.connections]).toEqual([['/slow', '/version'], 1]);
  });

  it('is given up in time, and known not to have been sent', async () => {
    const { server, transport, free } = await busy();
    const late = transport.request({ ...patch, path: '/waits', timeoutMs: 20 });
    await expect(late).rejects.toMatchObject({ code: 'ApiUnreachable', maybeSent: false });
    await free();
    await transport.request(get);
    expect(server.requests.map(({ path }) => path)).toEqual(['/slow', '/version']);
  });

  it('is not sent by a process that has lost its lease meanwhile; a read is', async () => {
    const { server, transport, free } = await busy();
    let leads = true;
    const fenced = fencedTransport(transport, () => leads);
    const write = fenced.request({ ...patch, path: '/waits' }).catch((error: unknown) => error);
    const read = fenced.request(get);
    leads = false;
    await free();
    expect([await write, (await read).status]).toEqual([expect.any(WriteFenced), 200]);
    expect([server.requests.map(({ path }) => path), server.connections]).toEqual([['/slow', '/version'], 1]);
  });
});
