/**
 * HTTP/1.1 with a database process: one request on one connection, which ends with it.
 *
 * It runs over whatever `dial` opens, in TLS where material is given, so that a test or a simulation that stands in for
 * the network stands in for this too.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { longestAnswerBytes, longestPickedBytes } from '../api/bounds.ts';
import type { EngineContext, HttpRequest, HttpResponse, TlsMaterial } from '../engine/engine-context.ts';
import { untilAborted } from './until-aborted.ts';

export async function exchangeOver(dial: EngineContext['dial'], request: HttpRequest): Promise<HttpResponse> {
  const { host, port, tls, signal } = request;
  const plain = await dial(host, port, signal);
  const abort = (): void => void plain.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    // Whatever comes over the connection, or does not, and whatever Node makes of it: it is over when its time is.
    const stream = tls === undefined ? plain : await untilAborted(signal, secured(plain, host, tls));
    return await untilAborted(signal, exchange(stream, request));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', abort);
    plain.destroy();
  }
}

function secured(plain: Duplex, host: string, tls: TlsMaterial): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const { servername, ...material } = tls;
    const stream = connectTls({
      socket: plain,
      host,
      ...material,
      ...(servername === undefined ? {} : { servername }),
    });
    stream.once('error', reject);
    plain.once('close', () => reject(new Error('the connection ended before TLS was agreed')));
    stream.once('secureConnect', () => {
      stream.off('error', reject);
      resolve(stream);
    });
  });
}

function exchange(stream: Duplex, { host, method, path, headers, body, lines }: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({
      createConnection: () => stream,
      host,
      method,
      path,
      headers: {
        connection: 'close',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    });
    call.once('error', reject);
    // Without this Node closes the connection, and says nothing.
    call.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the answer asks for another protocol'));
    });
    call.once('response', (response) => {
      (lines === undefined ? read(response) : picked(response, lines)).then(
        (text) => resolve({ status: response.statusCode ?? 0, body: text }),
        reject,
      );
    });
    call.end(body);
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestAnswerBytes) throw new Error(`the answer is longer than ${longestAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What is not kept is forgotten at once; a line without an end counts like any other, and what is kept has the shorter bound. */
async function picked(response: IncomingMessage, lines: RegExp): Promise<string> {
  let kept = '';
  let rest = '';
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestPickedBytes) throw new Error(`the answer is longer than ${longestPickedBytes} bytes`);
    const parts = (rest + chunk.toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) if (lines.test(line)) kept += `${line}\n`;
    if (kept.length + rest.length > longestAnswerBytes) {
      throw new Error(`the lines of the answer are longer than ${longestAnswerBytes} bytes`);
    }
  }
  return lines.test(rest) ? kept + rest : kept;
}
