/** Which request is sent again, and when: nothing that may have been done already, unless twice is the same as once. */
import { describe, expect, it } from 'vitest';
import { ApiError, ApiUnreachable } from '../../src/runtime/api-error.ts';
import { type RetrySafety, retryDelay } from '../../src/runtime/retry.ts';

const safeties: readonly RetrySafety[] = ['repeatable', 'once'];
const refusal = (status: number, retryAfterMs?: number): ApiError =>
  new ApiError({
    status,
    reason: 'Refused',
    message: 'no',
    method: 'POST',
    path: '/',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const denied = (status: number, retryAfterMs: number): ApiError =>
  new ApiError({
    ...refusal(status),
    message: 'admission webhook "p.example" denied the request: no',
    retryAfterMs,
  });
const unreachable = (maybeSent: boolean): ApiUnreachable =>
  new ApiUnreachable('POST', '/', maybeSent, new Error('reset'));
/** For a request that may be repeated, and for one that may not. */
const delays = (error: unknown, attempt = 1, random = 0.5): (number | undefined)[] =>
  safeties.map((safety) => retryDelay(error, safety, attempt, () => random));

describe('a request that has failed', () => {
  it.each<readonly [story: string, error: unknown, repeatable: number | undefined, once: number | undefined]>([
    ['and was surely not sent is sent again', unreachable(false), 100, 100],
    ['and may have been sent is sent again where twice is once', unreachable(true), 100, undefined],
    ['for another reason is not', new TypeError('fetch failed'), undefined, undefined],
    ['since the server turned it away is sent again when it asks for it', refusal(429, 2000), 2500, 2500],
    ['with 429 and no word of when may have passed a proxy', refusal(429), 100, undefined],
    ['with 502', refusal(502), 100, undefined],
    ['with 503', refusal(503), 100, undefined],
    ['with 503 and a word of when', refusal(503, 2000), 2500, undefined],
    ['with 504', refusal(504), 100, undefined],
    ['with 500 alone is an error of the server', refusal(500), undefined, undefined],
    ['with 500 and a word of when', refusal(500, 2000), 2500, undefined],
    ['with a conflict', refusal(409), undefined, undefined],
    ['with a conflict and a word of when', refusal(409, 2000), undefined, undefined],
    ['since a webhook denies it with 429 has its answer', denied(429, 2000), undefined, undefined],
    ['since a webhook denies it with 503 has its answer', denied(503, 2000), undefined, undefined],
    ['for half a minute waits as long', refusal(429, 30_000), 30_500, 30_500],
    ['for longer goes to the caller', refusal(429, 30_001), undefined, undefined],
    ['for a moment waits at most twice as long', refusal(429, 100), 150, 150],
  ])('%s', (_, error, repeatable, once) => expect(delays(error)).toEqual([repeatable, once]));

  it('waits twice as long each time, spread by half, and gives up after the fifth attempt', () => {
    const over = [1, 2, 3, 4, 5, 6].map((attempt) => delays(unreachable(false), attempt)[0]);
    expect(over).toEqual([100, 200, 400, 800, undefined, undefined]);
    expect([0, 1].map((random) => delays(unreachable(false), 1, random)[0])).toEqual([50, 150]);
    expect([0, 1].map((random) => delays(refusal(429, 5000), 1, random)[0])).toEqual([5000, 6000]);
  });
});
