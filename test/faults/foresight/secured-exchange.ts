/**
 * Requests over TLS, and the same answered again. Their bytes say nothing to whoever has not the keys of that connection,
 * so they are kept as the engine sees them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EngineIO, HttpRequest, HttpResponse } from '../../../src/engines/engine-io.ts';
import type { Clock } from '../../../src/runtime/clock.ts';

export interface SecuredExchange {
  readonly request: HttpRequest;
  /** Undefined where none came. */
  answer?:
    | { readonly at: number; readonly response: HttpResponse }
    | { readonly at: number; readonly failure: unknown };
}

/** Exchanges like the given function, and keeps what was over TLS. */
export function keptExchange(
  exchange: EngineIO['exchange'],
  kept: SecuredExchange[],
  now: () => number,
): EngineIO['exchange'] {
  return async (request) => {
    if (request.tls === undefined) return exchange(request);
    const one: SecuredExchange = { request };
    kept.push(one);
    try {
      const response = await exchange(request);
      one.answer = { at: now(), response };
      return response;
    } catch (failure) {
      if (!request.signal.aborted) one.answer = { at: now(), failure };
      throw failure;
    }
  };
}

/**
 * Answers what was over TLS as it was answered, each request once, and when it was. What was not asked is not answered.
 *
 * @param clock begins with the pass; `began` is when that was
 */
export function replayedExchange(
  exchanges: readonly SecuredExchange[],
  plain: EngineIO['exchange'],
  clock: Pick<Clock, 'monotonic' | 'after'>,
  began: number,
): EngineIO['exchange'] {
  const left = [...exchanges];
  return (request) => {
    if (request.tls === undefined) return plain(request);
    return new Promise((resolve, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
      const next = left.findIndex((one) => isDeepStrictEqual(wordsOf(one.request), wordsOf(request)));
      const [found] = next < 0 ? [] : left.splice(next, 1);
      const answer = found?.answer;
      if (answer === undefined) return;
      clock.after(Math.max(0, answer.at - began - clock.monotonic()), () => {
        if ('response' in answer) resolve(answer.response);
        else reject(answer.failure);
      });
    });
  };
}

function wordsOf({ host, port, method, path, headers, body }: HttpRequest): object {
  return { host, port, method, path, headers, body };
}
