/** One short request to whoever gives out credentials. No redirect is followed: what is sent is a secret. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import { inTime } from '../../engine/driver/wait.ts';

export interface PlatformRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM, instead of the public authorities. */
  readonly ca?: string | undefined;
}

const maxAnswerBytes = 64 * 1024;
const patienceMs = 20_000;

/** @throws Failure TargetUnreachable, TargetRefused */
export async function askPlatform(
  { url, method, headers, body, ca }: PlatformRequest,
  { clock, signal, idleMs }: Pick<AgentContext, 'clock' | 'signal' | 'idleMs'>,
): Promise<{ readonly status: number; readonly body: string }> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const ending = new AbortController();
  const late = (): Failure => new Failure('TargetUnreachable', `${url.origin} does not answer`);
  try {
    const answer = new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
      const options = { method, headers, signal: ending.signal, agent: false, ...(ca === undefined ? {} : { ca }) };
      const sent = send(url, options, (response) => {
        contentOf(response, url).then((text) => resolve({ status: response.statusCode ?? 0, body: text }), reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
    return await inTime(answer, { clock, signal, idleMs: Math.min(idleMs, patienceMs) }, late);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof Failure) throw error;
    throw new Failure('TargetUnreachable', `asking ${url.origin} for credentials did not work`, { cause: error });
  } finally {
    ending.abort();
  }
}

async function contentOf(response: IncomingMessage, { origin }: URL): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxAnswerBytes) {
      throw new Failure('TargetRefused', `${origin} answers with more than ${maxAnswerBytes} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
