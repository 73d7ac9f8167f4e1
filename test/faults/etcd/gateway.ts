/** etcd's JSON gateway on a stream: one request on a connection, as the operator and plain HTTP clients ask. */
import type { Duplex } from 'node:stream';
import type { Reply } from './calls.ts';
import { isRefusal } from './entry.ts';

export interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
}

/** As the gateway translates gRPC's codes. */
const statuses: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  8: 429,
  9: 400,
  11: 400,
  14: 503,
  15: 500,
  16: 401,
};

/** `answer` resolves with undefined where there is no such call, and never where the process says nothing any more. */
export function serveGateway(stream: Duplex, answer: (asked: Asked) => Promise<Reply | undefined>): void {
  let received = '';
  stream.on('error', () => stream.destroy());
  stream.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const asked = parsed(received);
    if (asked === undefined) return;
    received = '';
    void answer(asked).then((reply) => {
      if (stream.writable) stream.end(written(reply));
    });
  });
}

/** Undefined until the whole request is there. */
function parsed(text: string): Asked | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers.get('content-length') ?? 0)) return undefined;
  const path = /^POST \/v3\/(\S+)/.exec(first)?.[1] ?? '';
  return {
    path,
    body: body === '' ? {} : (JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Asked['body']),
    token: headers.get('authorization'),
  };
}

function written(reply: Reply | undefined): string {
  if (reply === undefined) return message(404, { code: 5, message: 'Not Found', details: [] });
  if (!isRefusal(reply)) return message(200, reply);
  const { refused, code } = reply;
  return message(statuses[code] ?? 500, { error: refused, code, message: refused, details: [] });
}

function message(status: number, content: object): string {
  const body = JSON.stringify(content);
  return `HTTP/1.1 ${status} -\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
