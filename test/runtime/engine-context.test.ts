import { getEventListeners } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-context.ts';
import { dialTcp } from '../../src/system/dial.ts';
import { blankAccounts, blankClaims } from '../support/blank-claims.ts';
import { FakeApi } from '../support/fake-api.ts';
import { freePort } from '../support/free-port.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const signal = new AbortController().signal;

let server: Server | undefined;
afterEach(() => server?.close());

async function listening(): Promise<number> {
  const opened = createServer((socket) => socket.pipe(socket));
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  return (opened.address() as AddressInfo).port;
}

describe('a connection', () => {
  it('carries bytes both ways', async () => {
    const socket = await dialTcp('127.0.0.1', await listening(), signal);
    socket.write('hello');
    const [chunk] = (await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])))) as [
      Buffer,
    ];
    expect(chunk.toString()).toBe('hello');
    socket.destroy();
  });

  it('that is refused says so', async () => {
    await expect(dialTcp('127.0.0.1', await freePort(), signal)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is given up when the signal aborts, before and while it is opened', async () => {
    const reason = new Error('too late');
    await expect(dialTcp('127.0.0.1', 1, AbortSignal.abort(reason))).rejects.toBe(reason);
    const late = new AbortController();
    // An address of documentation: nobody answers.
    const dialling = dialTcp('192.0.2.1', 6379, late.signal);
    late.abort(reason);
    await expect(dialling).rejects.toBe(reason);
  });

  it('outlives the signal that it was opened under', async () => {
    const opening = new AbortController();
    const socket = await dialTcp('127.0.0.1', await listening(), opening.signal);
    opening.abort();
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });
});

const hour = 3_600_000;

function secrets() {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const values: string[] = [];
  const unread: unknown[] = [];
  const reader = createSecretReader({
    client: api.client(clock),
    clock,
    onValue: (value) => values.push(value),
    onUnread: (secret) => unread.push(secret),
  });
  const put = (password: string): void => {
    const data = { password: Buffer.from(password).toString('base64') };
    api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-auth', namespace: 'apps' }, data });
  };
  const io = engineIO({
    namespace: 'apps',
    secrets: reader,
    claims: blankClaims,
    accounts: blankAccounts,
    dial: dialTcp,
    clock,
    signal,
  });
  return { api, clock, io, put, reader, unread, values };
}

it.runIf(existsSync('/proc/net/tcp'))(
  'a connection that only listens finds out within half a minute that nobody is there',
  async () => {
    const port = await listening();
    const socket = await dialTcp('127.0.0.1', port, signal);
    const own = (socket as Socket).localPort ?? 0;
    const hex = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');
    const row = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .find((line) => line.includes(`:${hex(own)} 0100007F:${hex(port)} `));
    // Timer 2 is the keep-alive; its time is in hundredths of a second.
    const [, timer, left = ''] = / (\d\d):([0-9A-F]{8}) /.exec(row ?? '') ?? [];
    socket.destroy();
    expect([timer, Number.parseInt(left, 16) <= 1000]).toEqual(['02', true]);
  },
);

describe('a Secret', () => {
  it('of somebody else gives nothing where one of ours is asked for', async () => {
    const { api, io, put, reader, values } = secrets();
    put('of-a-shop');
    expect(await io.secret('db-auth', 'ours')).toEqual({});
    expect(await io.secret('db-auth')).toEqual({ password: 'of-a-shop' });
    expect(await io.secret('db-auth', 'ours')).toEqual({});
    expect(values).toEqual(['of-a-shop']);
    const labels = { 'app.kubernetes.io/managed-by': 'clusterwright' };
    const data = { password: Buffer.from('own').toString('base64') };
    api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-internal', namespace: 'apps', labels }, data });
    expect(await io.secret('db-internal', 'ours')).toEqual({ password: 'own' });
    reader.learn('apps', 'db2-internal', { password: 'made' });
    expect(await io.secret('db2-internal', 'ours')).toEqual({ password: 'made' });
  });

  it('of another cluster gives nothing where one of this cluster is asked for', async () => {
    const { api, io, reader } = secrets();
    const data = { password: Buffer.from('own').toString('base64') };
    const labels = { 'app.kubernetes.io/managed-by': 'clusterwright', 'app.kubernetes.io/instance': 'db' };
    const metadata = { name: 'db-patroni-ca', namespace: 'apps', labels };
    api.put({ apiVersion: 'v1', kind: 'Secret', metadata, data });
    expect(await io.secret('db-patroni-ca', { of: 'db-patroni' })).toEqual({});
    expect(await io.secret('db-patroni-ca', { of: 'db' })).toEqual({ password: 'own' });
    reader.learn('apps', 'db-tls', { password: 'made' }, 'db');
    expect(await io.secret('db-tls', { of: 'db-patroni' })).toEqual({});
    expect(await io.secret('db-tls', { of: 'db' })).toEqual({ password: 'made' });
  });

  it('is read by name, once an hour, and its values are told to whom keeps them out of the log', async () => {
    const { api, clock, io, put, values } = secrets();
    put('one');
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
    put('two');
    await clock.advance(hour - 1);
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
    await clock.advance(1);
    expect(await io.secret('db-auth')).toEqual({ password: 'two' });
    expect(api.reads).toEqual(['/api/v1/namespaces/apps/secrets/db-auth', '/api/v1/namespaces/apps/secrets/db-auth']);
    expect(values).toEqual(['one', 'two']);
  });

  it('of a resource that is gone is read anew at once, and no other one', async () => {
    const { api, io, put, reader } = secrets();
    put('one');
    await io.secret('db-auth');
    reader.learn('apps', 'other-auth', { password: 'other' });
    reader.learn('apps', 'copy', { password: 'copied' }, 'db');
    reader.forget('elsewhere', 'db');
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
    api.vanish('Secret', 'db-auth');
    reader.forget('apps', 'db');
    expect(await Promise.all(['db-auth', 'copy', 'other-auth'].map((name) => io.secret(name)))).toEqual([
      undefined,
      undefined,
      { password: 'other' },
    ]);
  });

  it('that was refused is read anew, not more often than every five seconds', async () => {
    const { clock, io, put, api } = secrets();
    put('one');
    await io.secret('db-auth');
    put('two');
    io.secretRefused('db-auth');
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
    await clock.advance(5000);
    expect(await io.secret('db-auth')).toEqual({ password: 'two' });
    io.secretRefused('db-auth');
    io.secretRefused('another');
    await io.secret('db-auth');
    expect(api.reads.length).toBe(2);
  });

  it('that may be older than somebody wants is read anew once it is', async () => {
    const { clock, io, put, api } = secrets();
    put('one');
    await io.secret('db-auth');
    put('two');
    await clock.advance(39_999);
    io.secretOutdated('db-auth', 40_000);
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
    await clock.advance(1);
    io.secretOutdated('db-auth', 40_000);
    expect(await io.secret('db-auth')).toEqual({ password: 'two' });
    io.secretOutdated('db-auth', 40_000);
    await io.secret('db-auth');
    expect(api.reads.length).toBe(2);
    put('three');
    expect(await io.secretNow('db-auth')).toEqual({ password: 'three' });
    expect(await io.secret('db-auth')).toEqual({ password: 'three' });
  });

  it('that may be older goes on while it cannot be read, and is asked for every five seconds', async () => {
    const { clock, io, put, api, unread } = secrets();
    put('one');
    await io.secret('db-auth');
    api.intercept = async () => ({ status: 500, headers: {}, body: '' });
    await clock.advance(40_000);
    const look = async (): Promise<unknown> => {
      io.secretOutdated('db-auth', 40_000);
      return io.secret('db-auth');
    };
    expect([await look(), await look()]).toEqual([{ password: 'one' }, { password: 'one' }]);
    expect(unread).toEqual([{ namespace: 'apps', name: 'db-auth', err: expect.any(Error) }]);
    await clock.advance(5000);
    expect([await look(), unread.length]).toEqual([{ password: 'one' }, 2]);
    put('two');
    api.intercept = () => undefined;
    await clock.advance(5000);
    expect(await look()).toEqual({ password: 'two' });
  });

  it.each<readonly [story: string, refuse: (io: EngineContext) => void, laterMs: number]>([
    ['a database has refused it', (io) => io.secretRefused('db-auth'), 5000],
    ['it was read an hour ago', (io) => io.secretOutdated('db-auth', 40_000), hour],
  ])('that cannot be read is not used where %s', async (_, refuse, laterMs) => {
    const { clock, io, put, api } = secrets();
    put('one');
    await io.secret('db-auth');
    api.intercept = async () => ({ status: 500, headers: {}, body: '' });
    await clock.advance(laterMs);
    refuse(io);
    await expect(io.secret('db-auth')).rejects.toThrow();
  });

  it('that cannot be read now is used all the same by those who need not know better', async () => {
    const { io, put, api } = secrets();
    put('one');
    await io.secret('db-auth');
    api.intercept = async () => ({ status: 403, headers: {}, body: '' });
    await expect(io.secretNow('db-auth')).rejects.toThrow();
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
  });

  it('that was deleted is not used any more, whatever was known of it', async () => {
    const { clock, io, put, api } = secrets();
    put('one');
    await io.secret('db-auth');
    api.vanish('Secret', 'db-auth');
    await clock.advance(40_000);
    io.secretOutdated('db-auth', 40_000);
    expect([await io.secret('db-auth'), await io.secret('db-auth')]).toEqual([undefined, undefined]);
  });

  it('that was refused long after it was read is read anew at once', async () => {
    const { clock, io, put } = secrets();
    put('one');
    await io.secret('db-auth');
    put('two');
    await clock.advance(5000);
    io.secretRefused('db-auth');
    expect(await io.secret('db-auth')).toEqual({ password: 'two' });
  });

  it('that another object tells something new of is read anew at once, and once', async () => {
    const { io, put, api } = secrets();
    put('one');
    await io.secret('db-auth', undefined, 'first');
    put('two');
    expect(await io.secret('db-auth', undefined, 'first')).toEqual({ password: 'one' });
    expect(await io.secret('db-auth', undefined, 'second')).toEqual({ password: 'two' });
    put('three');
    expect(await io.secret('db-auth')).toEqual({ password: 'two' });
    expect(await io.secret('db-auth', undefined, 'second')).toEqual({ password: 'two' });
    expect(await io.secret('db-auth', undefined, 'third')).toEqual({ password: 'three' });
    expect(api.reads.length).toBe(3);
  });

  it('that is not there is looked for each time', async () => {
    const { io, put } = secrets();
    expect(await io.secret('db-auth')).toBeUndefined();
    put('one');
    expect(await io.secret('db-auth')).toEqual({ password: 'one' });
  });

  it('that this process has just made need not be read', async () => {
    const { api, io, reader, values } = secrets();
    reader.learn('apps', 'db-auth', { password: 'made' });
    expect([await io.secret('db-auth'), api.reads, values]).toEqual([{ password: 'made' }, [], ['made']]);
  });

  it('of another namespace is another', async () => {
    const { io, reader } = secrets();
    reader.learn('elsewhere', 'db-auth', { password: 'made' });
    expect(await io.secret('db-auth')).toBeUndefined();
  });

  it('that the API server does not give is no missing one', async () => {
    const { api, io } = secrets();
    api.intercept = async () => ({ status: 403, headers: {}, body: '' });
    await expect(io.secret('db-auth')).rejects.toThrow('403');
  });

  it('is forgotten an hour after it was learned: its cluster may be gone', async () => {
    const { clock, reader } = secrets();
    reader.learn('apps', 'a', { password: 'one' });
    await clock.advance(hour / 2);
    reader.learn('apps', 'b', { password: 'two' });
    reader.learn('apps', 'a', { password: 'three' });
    await clock.advance(hour / 2);
    reader.learn('apps', 'c', { password: 'four' });
    expect(reader.size).toBe(3);
    await clock.advance(hour);
    reader.learn('apps', 'd', { password: 'five' });
    expect(reader.size).toBe(1);
  });

  it('that was learned anew holds up the forgetting of no other', async () => {
    const { clock, reader } = secrets();
    reader.learn('apps', 'a', { password: 'one' });
    reader.learn('apps', 'b', { password: 'two' });
    await clock.advance(hour / 2);
    reader.learn('apps', 'a', { password: 'three' });
    await clock.advance(hour / 2);
    reader.learn('apps', 'c', { password: 'four' });
    expect(reader.size).toBe(2);
  });
});

describe('a long-lived signal', () => {
  it('ends what goes on under it, and nothing that has ended stays tied to it', async () => {
    const { clock, reader } = secrets();
    const port = await listening();
    const life = new AbortController();
    const io = engineIO({
      namespace: 'apps',
      secrets: reader,
      claims: blankClaims,
      accounts: blankAccounts,
      dial: dialTcp,
      clock,
      signal: life.signal,
    });
    for (let i = 0; i < 3; i++) {
      const socket = await io.dial('127.0.0.1', port, new AbortController().signal);
      socket.destroy();
      const request = { host: '127.0.0.1', port: await freePort(), method: 'GET', path: '/' } as const;
      await expect(io.exchange({ ...request, signal: new AbortController().signal })).rejects.toThrow();
    }
    expect(getEventListeners(life.signal, 'abort')).toEqual([]);
    // An address of documentation: nobody answers.
    const dialling = io.dial('192.0.2.1', 6379, new AbortController().signal);
    life.abort(new Error('over'));
    await expect(dialling).rejects.toThrow('over');
  });
});

describe('time', () => {
  it('passes by the clock, and ends with either signal', async () => {
    const { clock, reader } = secrets();
    const [process, own] = [new AbortController(), new AbortController()];
    const io = engineIO({
      namespace: 'apps',
      secrets: reader,
      claims: blankClaims,
      accounts: blankAccounts,
      dial: dialTcp,
      clock,
      signal: process.signal,
    });
    const slept: string[] = [];
    void io.sleep(100).then(() => slept.push('100 ms'));
    void io.sleep(1000, own.signal).catch(() => slept.push('own'));
    void io.sleep(1000).catch(() => slept.push('process'));
    await clock.advance(100);
    own.abort();
    await clock.advance(0);
    process.abort();
    await clock.advance(0);
    expect(slept).toEqual(['100 ms', 'own', 'process']);
    expect(clock.pending).toEqual([]);
  });
});
