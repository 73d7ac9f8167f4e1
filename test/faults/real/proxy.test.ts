/** The proxy over real sockets, with the transport that the operator itself uses on one side and a server on the other. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixedCredentials } from '../../../src/runtime/credentials.ts';
import { loadKubeconfig } from '../../../src/runtime/kubeconfig.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import { createTransport } from '../../../src/runtime/undici-transport.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { MisbehavingServer } from '../../support/misbehaving-server.ts';
import * as pem from '../../support/tls.ts';
import type { Fault } from '../plan.ts';
import { createWire, type Life, type Wire } from '../wire/wire.ts';
import { startProxy } from './proxy.ts';
import { createWitness, type Witness } from './witness.ts';

const path = '/api/v1/namespaces/a/configmaps';
const watch = { method: 'GET', path, query: { watch: 'true', sendInitialEvents: 'true' } } as const;

interface Setting {
  readonly server: MisbehavingServer;
  readonly url: string;
  readonly operator: Transport;
  readonly wire: Wire;
  readonly witness: Witness;
  readonly life: Life;
  readonly crashed: readonly number[];
  readonly refuse: () => void;
  readonly accept: () => Promise<void>;
}

async function set(faults: readonly Fault[] = []): Promise<Setting> {
  const server = await new MisbehavingServer(undefined, { key: pem.serverKey, cert: pem.serverCertificate }).start();
  const clock = systemClock;
  const real = createTransport({
    credentials: fixedCredentials(server.url, { tls: { ca: pem.caCertificate }, authorization: 'Bearer real' }),
    userAgent: 'proxy',
    clock,
  });
  const life: Life = { id: 1, dead: false };
  const crashed: number[] = [];
  const wire = createWire({
    clock,
    faults,
    crash(dead) {
      dead.dead = true;
      crashed.push(dead.id);
    },
    begin: () => undefined,
    touch: async () => undefined,
  });
  const witness = createWitness(clock);
  const proxy = await startProxy(wire.transport(life, witness.transport(life.id, real)));
  const files = { readText: async () => proxy.kubeconfig('a'), version: async () => '1' };
  const { credentials, namespace } = await loadKubeconfig({ env: {}, clock, path: '/kubeconfig', files });
  expect(namespace).toBe('a');
  const operator = createTransport({ credentials, userAgent: 'operator', clock });
  onTestFinished(async () => {
    await operator.close();
    proxy.close();
    await real.close();
    await server.stop();
  });
  wire.arm();
  return { server, url: proxy.url, operator, wire, witness, life, crashed, refuse: proxy.refuse, accept: proxy.accept };
}

async function linesOf(chunks: AsyncIterable<Uint8Array>, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  let text = '';
  for await (const chunk of chunks) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.split('\n').length > count) break;
  }
  return text.split('\n').filter((line) => line !== '');
}

describe('what passes through', () => {
  it('a request with its method, query, body and type, as somebody else; and the answer with its status and headers', async () => {
    const { server, operator } = await set();
    server.behaviour.other = (_request, response) => {
      response.writeHead(429, { 'retry-after': '7', warning: '299 - "old"', 'content-type': 'text/plain' });
      response.end('slowly, ü');
    };
    const answer = await operator.request({
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/a/statefulsets/r',
      query: { fieldManager: 'x y', force: 'true' },
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: '{"é":1}',
    });
    expect(answer).toMatchObject({
      status: 429,
      headers: { 'retry-after': '7', warning: '299 - "old"', 'content-type': 'text/plain' },
      body: 'slowly, ü',
    });
    expect(server.requests).toMatchObject([
      {
        method: 'PATCH',
        path: '/apis/apps/v1/namespaces/a/statefulsets/r',
        query: { fieldManager: 'x y', force: 'true' },
        headers: {
          'content-type': 'application/apply-patch+yaml',
          authorization: 'Bearer real',
          'user-agent': 'operator',
        },
        body: '{"é":1}',
      },
    ]);
  });

  it('many requests over few connections', async () => {
    const { server, operator } = await set();
    server.behaviour.other = (_request, response) => response.end('{}');
    for (let i = 0; i < 20; i++) await operator.request({ method: 'GET', path: '/version' });
    expect(server.connections).toBeLessThan(3);
  });

  it.each([1, 2, 3, 7, 64])(
    'a watch whose bytes come in pieces of %i, and what happens while it lasts',
    async (size) => {
      const { server, operator } = await set();
      server.behaviour.chunkBytes = size;
      for (const name of ['ä', 'b']) server.model.put(name);
      const answer = await operator.stream(watch);
      expect(answer.status).toBe(200);
      const lines = linesOf(answer.body, 4);
      await eventually(() => server.openWatches === 1);
      server.model.put('c');
      const types = (await lines).map((line) => (JSON.parse(line) as { type: string }).type);
      expect(types).toEqual(['ADDED', 'ADDED', 'BOOKMARK', 'ADDED']);
    },
  );

  it('the end of a watch that the operator closes', async () => {
    const { server, operator } = await set();
    const answer = await operator.stream(watch);
    for await (const _ of answer.body) break;
    await eventually(() => server.openWatches === 0);
  });

  it('nothing of a stranger', async () => {
    const { server, url } = await set();
    const stranger = createTransport({
      credentials: fixedCredentials(url, { tls: { ca: pem.caCertificate }, authorization: 'Bearer forged' }),
      userAgent: 'stranger',
      clock: systemClock,
    });
    onTestFinished(() => stranger.close());
    expect((await stranger.request({ method: 'GET', path: '/version' })).status).toBe(401);
    expect(server.requests).toEqual([]);
  });
});

describe('what the wire does shows on the sockets', () => {
  it.each([
    ['reset', { do: 'endWatch', at: { write: 1 }, resources: 'all', how: 'reset' }],
    ['down', { do: 'apiDown', at: { write: 1 }, forMs: 60_000 }],
  ] as const)('a watch is cut in the middle of a frame: %s', async (_name, fault) => {
    const { server, operator } = await set([fault]);
    server.behaviour.other = (_request, response) => response.end('{}');
    server.model.put('a');
    const { body } = await operator.stream(watch);
    const seen: string[] = [];
    const watching = (async () => {
      for await (const chunk of body) seen.push(Buffer.from(chunk).toString('utf8'));
    })();
    await eventually(() => seen.join('').split('\n').length > 2);
    await operator.request({ method: 'PATCH', path: '/api/v1/namespaces/a/services/r', body: '{}' });
    await expect(watching).rejects.toMatchObject({ code: 'ApiUnreachable' });
    expect(seen.join('').endsWith('\n')).toBe(false);
  });

  it('an answer is lost although the server has given it', async () => {
    const { server, operator, witness } = await set([{ do: 'loseAnswer', write: 1, how: 'reset' }]);
    server.behaviour.other = (_request, response) => response.end('{}');
    const lost = operator.request({ method: 'POST', path: '/api/v1/namespaces/a/services', body: '{}' });
    await expect(lost).rejects.toMatchObject({ code: 'ApiUnreachable', maybeSent: true });
    expect(witness.writes).toMatchObject([{ method: 'POST', status: 200, life: 1 }]);
    expect((await operator.request({ method: 'GET', path: '/version' })).status).toBe(200);
  });

  it('a process dies before it hears of its write, and nothing of it arrives any more', async () => {
    const { server, operator, crashed, witness } = await set([{ do: 'crash', write: 2, when: 'after' }]);
    server.behaviour.other = (_request, response) => response.end('{}');
    const write = () => operator.request({ method: 'PATCH', path: '/api/v1/namespaces/a/services/r', body: '{}' });
    expect((await write()).status).toBe(200);
    await expect(write()).rejects.toMatchObject({ code: 'ApiUnreachable' });
    await expect(write()).rejects.toMatchObject({ code: 'ApiUnreachable' });
    expect(crashed).toEqual([1]);
    expect(witness.writes).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });

  it('nobody listens for a while, and then somebody does', async () => {
    const { server, operator, refuse, accept } = await set();
    server.behaviour.other = (_request, response) => response.end('{}');
    const ask = () => operator.request({ method: 'GET', path: '/version' });
    expect((await ask()).status).toBe(200);
    refuse();
    await expect(ask()).rejects.toMatchObject({ code: 'ApiUnreachable' });
    await expect(ask()).rejects.toMatchObject({ code: 'ApiUnreachable', maybeSent: false });
    await accept();
    expect((await ask()).status).toBe(200);
  });
});
