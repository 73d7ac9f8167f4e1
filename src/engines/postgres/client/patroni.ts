/**
 * Patroni's REST API: one call, one connection, bounded. Nothing is repeated here: a call that failed may have been carried out, and what
 * came of it is asked afterwards.
 */
import { shortened } from '../../../api/bounds.ts';
import type { EngineContext, HttpRequest, TlsMaterial } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import { patroniPort } from '../names.ts';

/** Time in which a member must answer a question. */
export const answerTimeoutMs = 1000;
/** Time in which Patroni must have carried out a switchover: it waits for a checkpoint first. */
export const switchoverTimeoutMs = 60_000;

/** The member answered, and refused. */
export class PatroniRefusal extends Error {
  override readonly name = 'PatroniRefusal';
  readonly status: number;
  constructor(message: string, status: number) {
    super(shortened(message));
    this.status = status;
  }
}

export type Answer = Readonly<Record<string, unknown>>;

export interface PatroniCall {
  readonly method?: HttpRequest['method'];
  /** `/patroni`, `/config`, … */
  readonly path: string;
  readonly body?: object;
  readonly timeoutMs?: number;
  /** An answer with another status is one, too: `/patroni` says 503 of a member that does not run. */
  readonly anyStatus?: true;
}

/** Rejects with PatroniRefusal, Unanswered, or with whatever kept the answer from arriving. A text that is no JSON is the field `text`. */
export async function callPatroni(
  io: EngineContext,
  address: string,
  call: PatroniCall,
  tls: TlsMaterial,
): Promise<Answer> {
  const { method = 'GET', path, body, timeoutMs = answerTimeoutMs } = call;
  const request = {
    host: address,
    port: patroniPort,
    method,
    path,
    tls,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  };
  const answer = await within(io, timeoutMs, `${address} (${method} ${path})`, (signal) =>
    io.exchange({ ...request, signal }),
  );
  if (answer.status < 300 || call.anyStatus === true) return fieldsOf(answer.body);
  throw new PatroniRefusal(answer.body.trim() || `status ${answer.status}`, answer.status);
}

function fieldsOf(text: string): Answer {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Answer;
  } catch {
    // Patroni answers some requests in words.
  }
  return { text: shortened(text.trim()) };
}
