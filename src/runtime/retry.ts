/**
 * Whether, and when, a failed request may be sent again.
 *
 * The rule is about what the server may already have done: a request that certainly had no effect may always be
 * repeated, one that may have had an effect only if doing it twice is the same as once. A create whose answer was lost
 * is therefore never repeated here; the caller learns the truth from its cache or from AlreadyExists.
 */

import type { Random } from '../system/clock.ts';
import { ApiError, ApiUnreachable, isDenied } from './api-error.ts';

/** `repeatable`: reads, server-side apply, deletes that name a UID. `once`: everything else. */
export type RetrySafety = 'repeatable' | 'once';

const MAX_ATTEMPTS = 5;
const BASE_DELAY_MS = 100;
/** A server that asks for more than this gets its way: the error goes to the caller, who has better things to do. */
const MAX_WAIT_MS = 30_000;

/** Milliseconds to wait before the next attempt, or undefined when the error is final. `attempt` counts from 1. */
export function retryDelay(error: unknown, safety: RetrySafety, attempt: number, random: Random): number | undefined {
  if (attempt >= MAX_ATTEMPTS) return undefined;
  const backoff = BASE_DELAY_MS * 2 ** (attempt - 1) * (0.5 + random());
  if (error instanceof ApiUnreachable) {
    return safety === 'repeatable' || !error.maybeSent ? backoff : undefined;
  }
  if (!(error instanceof ApiError)) return undefined;
  // An answer, whatever status the webhook has chosen: the caller decides what a denial means, and when to ask again.
  if (isDenied(error)) return undefined;

  const asked = error.retryAfterMs;
  const turnedAway = error.status === 429 && asked !== undefined;
  const passing = error.status === 429 || error.status === 502 || error.status === 503 || error.status === 504;
  if (!turnedAway && !(safety === 'repeatable' && (passing || (error.status === 500 && asked !== undefined)))) {
    return undefined;
  }
  if (asked === undefined) return backoff;
  return asked > MAX_WAIT_MS ? undefined : asked + random() * Math.min(asked, 1000);
}
