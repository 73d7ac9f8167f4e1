/** What was said within TLS is kept in the clear, and said again to whoever asks the same. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { caCertificate, serverCertificate, serverKey } from '../../support/tls.ts';
import { type Connection, replayed, tapped, tappedWithin } from './transcript.ts';

const server = createServer((plain: Socket) => {
  plain.once('data', () => {
    plain.pause();
    plain.write('S');
    const stream = new TLSSocket(plain, { isServer: true, cert: serverCertificate, key: serverKey });
    stream.on('error', () => undefined).on('data', (asked: Buffer) => stream.write(`${asked} is answered`));
  });
});
afterEach(() => void server.close());

const host = '127.0.0.1';
const { signal } = new AbortController();
const now = systemClock.monotonic;

async function said(stream: Duplex): Promise<string> {
  const coming = once(stream, 'data') as Promise<[Buffer]>;
  stream.resume();
  const [chunk] = await coming;
  return chunk.toString();
}

/** As PostgreSQL does it: asks for TLS in the clear, and everything else within. */
async function talk(plain: Duplex, secure: NonNullable<Parameters<typeof tappedWithin>[0]>): Promise<string> {
  plain.write('TLS?');
  expect(await said(plain)).toBe('S');
  plain.pause();
  const stream = await secure(plain, host, { ca: caCertificate }, signal);
  stream.write('a question');
  const answer = await said(stream);
  stream.destroy();
  return answer;
}

it('a session that begins in the clear', async () => {
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kept: Connection[] = [];
  const plain = await tapped(dialTcp, () => kept, now)(host, port, signal);
  expect(await talk(plain, tappedWithin(undefined, now))).toBe('a question is answered');

  const words = kept[0]?.events.flatMap((event) => ('bytes' in event ? [`${event.way} ${event.bytes}`] : []));
  expect(words).toEqual(['out TLS?', 'in S', 'out a question', 'in a question is answered']);
  const again = await replayed(kept, systemClock, now())(host, port, signal);
  expect(await talk(again, (stream) => Promise.resolve(stream))).toBe('a question is answered');
});
