/** Real servers on loopback: what an engine gets of HTTP, and what it gets when a server misbehaves. */
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { exchangeOver } from '../../src/runtime/http-exchange.ts';
import { dialTcp } from '../../src/system/dial.ts';
import { caCertificate, clientCertificate, clientKey, serverCertificate, serverKey } from '../support/tls.ts';

const signal = new AbortController().signal;
let server: Server | undefined;
afterEach(() => server?.close());

async function listening(opened: Server): Promise<number> {
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  return (opened.address() as AddressInfo).port;
}

const echo: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    response.statusCode = request.url === '/refused' ? 400 : 200;
    response.end(`${request.method} ${request.url} ${request.headers.authorization ?? '-'} ${body}`);
  });
};

const post = (port: number, more: object = {}) =>
  exchangeOver(dialTcp, { host: '127.0.0.1', port, method: 'POST', path: '/v3', body: 'é', signal, ...more });

describe('an exchange', () => {
  it('carries method, path, headers and body, and brings status and body back', async () => {
    const port = await listening(createHttp(echo));
    expect(await post(port, { headers: { authorization: 'token' } })).toEqual({
      status: 200,
      body: 'POST /v3 token é',
    });
    expect(await post(port, { path: '/refused' })).toMatchObject({ status: 400 });
    expect(await exchangeOver(dialTcp, { host: '127.0.0.1', port, method: 'GET', path: '/readyz', signal })).toEqual({
      status: 200,
      body: 'GET /readyz - ',
    });
  });

  it('runs in TLS, shows its certificate, and trusts nobody but the given authority', async () => {
    const options = { cert: serverCertificate, key: serverKey, ca: caCertificate, requestCert: true };
    const port = await listening(createHttps({ ...options, rejectUnauthorized: true }, echo));
    const tls = { ca: caCertificate, cert: clientCertificate, key: clientKey };
    expect(await post(port, { tls })).toMatchObject({ status: 200 });
    expect(await post(port, { tls: { ...tls, servername: 'api.test' } })).toMatchObject({ status: 200 });
    await expect(post(port, { tls: { ...tls, servername: 'other.test' } })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await expect(post(port, { tls: { ...tls, ca: clientCertificate } })).rejects.toThrow();
    await expect(post(port, { tls: { ca: caCertificate } })).rejects.toThrow();
  });

  it.each<[string, string]>([
    ['that is cut before the answer', ''],
    ['that is cut within the answer', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['that is no HTTP', '+OK\r\n'],
  ])('%s is rejected', async (_, answer) => {
    const port = await listening(createTcp((socket) => void socket.once('data', () => socket.end(answer))));
    await expect(post(port)).rejects.toThrow();
  });

  it.each<[string, string]>([
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    [
      'another protocol, after a hint',
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['a promise of an answer, and none', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('that is answered by %s is over, at the latest when its time is', async (_, answer) => {
    const port = await listening(createTcp((socket) => void socket.once('data', () => socket.write(answer))));
    await expect(post(port, { signal: AbortSignal.timeout(300) })).rejects.toThrow();
    const key = { cert: serverCertificate, key: serverKey };
    server?.close();
    const secured = await listening(createTls(key, (socket) => void socket.once('data', () => socket.write(answer))));
    await expect(post(secured, { tls: { ca: caCertificate }, signal: AbortSignal.timeout(300) })).rejects.toThrow();
  });

  it('that is too long is rejected', async () => {
    const port = await listening(createHttp((_, response) => void response.end(Buffer.alloc(64 * 1024 + 1))));
    await expect(post(port)).rejects.toThrow('longer than 65536 bytes');
  });

  it('of which only some lines are wanted may be longer, and no more than those are kept', async () => {
    const metrics = `a 1\n${'other 0\n'.repeat(20_000)}b 2`;
    const port = await listening(createHttp((_, response) => void response.end(metrics)));
    expect(await post(port, { lines: /^[ab] / })).toEqual({ status: 200, body: 'a 1\nb 2' });
  });

  it.each<[string, string, number]>([
    ['of which too many lines are wanted', 'a 1\n', 20_000],
    ['that is one line without an end', 'other', 20_000],
    ['that is too long even for that', 'other\n', 200_000],
  ])('%s is rejected', async (_, text, times) => {
    const port = await listening(createHttp((_request, response) => void response.end(text.repeat(times))));
    await expect(post(port, { lines: /^a / })).rejects.toThrow('longer than');
  });

  it.each([
    ['in silence', createTcp(() => undefined)],
    ['in TLS with somebody who does not speak it', createTcp(() => undefined)],
  ])('%s ends when the signal aborts, with its reason', async (story, opened) => {
    const port = await listening(opened);
    const late = new AbortController();
    const reason = new Error('too late');
    const tls = story.includes('TLS') ? { tls: { ca: caCertificate } } : {};
    const pending = post(port, { signal: late.signal, ...tls });
    setTimeout(() => late.abort(reason), 20);
    await expect(pending).rejects.toBe(reason);
  });
});
