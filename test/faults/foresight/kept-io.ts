/**
 * What an engine got of the outside world besides bytes, and the same given again: requests over TLS, whose bytes say
 * nothing to whoever has not the keys of that connection, and how its waits ended.
 *
 * A wait is mostly a time limit. On a machine under load the same limit falls otherwise the second time, so it is kept which
 * came first.
 */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EngineContext, HttpRequest, HttpResponse } from '../../../src/engine/engine-context.ts';
import type { Clock } from '../../../src/system/clock.ts';

interface SecuredExchange {
  readonly request: HttpRequest;
  /** Undefined where none came. */
  answer?:
    | { readonly at: number; readonly response: HttpResponse }
    | { readonly at: number; readonly failure: unknown };
}

interface Wait {
  readonly ms: number;
  /** When its time was over; undefined: nobody waited for that long. */
  overAt?: number;
}

/** What a login chose: the answers to it can only be given again to the same. */
interface Nonce {
  readonly login: string;
  readonly text: string;
}

export interface KeptIO {
  readonly exchanges: readonly SecuredExchange[];
  readonly waits: readonly Wait[];
  readonly nonces: readonly Nonce[];
}

type Keepable = Pick<EngineContext, 'exchange' | 'sleep'>;
type Kept = Keepable & Required<Pick<EngineContext, 'nonce'>>;

/** The same as it is now: what ends later belongs to somebody else. */
export function frozen({ exchanges, waits, nonces }: KeptIO): KeptIO {
  return {
    exchanges: exchanges.map((one) => ({ ...one })),
    waits: waits.map((one) => ({ ...one })),
    nonces: [...nonces],
  };
}

export function keeping(io: Keepable, now: () => number): Kept & { readonly kept: KeptIO } {
  const exchanges: SecuredExchange[] = [];
  const waits: Wait[] = [];
  const nonces: Nonce[] = [];
  return {
    kept: { exchanges, waits, nonces },
    nonce(login) {
      const text = randomBytes(18).toString('base64');
      nonces.push({ login, text });
      return text;
    },
    async exchange(request) {
      if (request.tls === undefined) return io.exchange(request);
      const one: SecuredExchange = { request };
      exchanges.push(one);
      try {
        const response = await io.exchange(request);
        one.answer = { at: now(), response };
        return response;
      } catch (failure) {
        if (!request.signal.aborted) one.answer = { at: now(), failure };
        throw failure;
      }
    },
    async sleep(ms, until) {
      const one: Wait = { ms };
      waits.push(one);
      await io.sleep(ms, until);
      one.overAt = now();
    },
  };
}

/** Longer than a wait that nobody waited for: what ended it is to come first. */
const neverMs = 10_000;

/**
 * Answers each request once, as it was answered and when it was, and lets each wait end as it ended. What was not asked is
 * not answered.
 *
 * @param clock begins with the pass; `began` is when that was
 */
export function givenAgain(
  io: Keepable,
  { exchanges, waits, nonces }: KeptIO,
  clock: Pick<Clock, 'monotonic' | 'after'>,
  began: number,
): Kept {
  const [unanswered, unended, unused] = [[...exchanges], [...waits], [...nonces]];
  return {
    nonce(login) {
      const next = unused.findIndex((one) => one.login === login);
      const [found] = next < 0 ? [] : unused.splice(next, 1);
      return found?.text ?? 'nobody has logged in so';
    },
    exchange(request) {
      if (request.tls === undefined) return io.exchange(request);
      return new Promise((resolve, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
        const next = unanswered.findIndex((one) => isDeepStrictEqual(wordsOf(one.request), wordsOf(request)));
        const [found] = next < 0 ? [] : unanswered.splice(next, 1);
        const answer = found?.answer;
        if (answer === undefined) return;
        clock.after(Math.max(0, answer.at - began - clock.monotonic()), () => {
          if ('response' in answer) resolve(answer.response);
          else reject(answer.failure);
        });
      });
    },
    sleep(ms, until) {
      const next = unended.findIndex((one) => one.ms === ms);
      const [found] = next < 0 ? [] : unended.splice(next, 1);
      if (found === undefined) return io.sleep(ms, until);
      const { overAt } = found;
      const again = overAt === undefined ? ms + neverMs : Math.max(0, overAt - began - clock.monotonic());
      return io.sleep(again, until);
    },
  };
}

function wordsOf({ host, port, method, path, headers, body }: HttpRequest): object {
  return { host, port, method, path, headers, body };
}
