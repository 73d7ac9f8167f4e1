/** What requests to a server that speaks S3 are signed with, where it lasts for a while and is renewed. */

import { Failure } from '../../engine/driver/failure.ts';
import type { Clock } from '../../system/clock.ts';
import type { Log } from '../../system/log.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface TemporaryCredentials extends Credentials {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface CredentialSource {
  /** Those of now: what is about to expire is renewed first. @throws Failure */
  current(): Promise<Credentials>;
  /** The server takes them for expired, whatever this clock says. */
  forget(): void;
}

/** So long before they expire they are renewed, or a quarter of their life where that is shorter. */
const mostMarginMs = 5 * 60_000;

/** A request that is signed shortly before the end arrives shortly after it. */
const leastLeftMs = 10_000;

export function renewed(
  fetch: () => Promise<TemporaryCredentials>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): CredentialSource {
  let held: (TemporaryCredentials & { readonly renewAt: number }) | undefined;
  let fetching: Promise<Credentials> | undefined;

  async function renew(): Promise<Credentials> {
    const askedAt = clock.now();
    try {
      const fetched = await fetch();
      const life = Math.max(0, fetched.expiresAt - askedAt);
      held = { ...fetched, renewAt: fetched.expiresAt - Math.min(mostMarginMs, life / 4) };
      return held;
    } catch (error) {
      // An upload of hours does not end for a moment's silence.
      const isRefused = error instanceof Failure && error.reason !== 'TargetUnreachable';
      if (isRefused || held === undefined || held.expiresAt - clock.now() < leastLeftMs) throw error;
      log.warn({ err: error }, 'the credentials could not be renewed yet; those that are there last for a while');
      return held;
    } finally {
      fetching = undefined;
    }
  }

  return {
    current() {
      if (held !== undefined && clock.now() < held.renewAt) return Promise.resolve(held);
      fetching ??= renew();
      return fetching;
    },
    forget() {
      held = undefined;
    },
  };
}

const printable = /^[\x21-\x7e]+$/;

/** Of foreign input: what goes into the headers of requests is of the form that it has everywhere. */
export function temporaryCredentials(found: {
  readonly accessKeyId: unknown;
  readonly secretAccessKey: unknown;
  readonly sessionToken: unknown;
  readonly expiration: unknown;
}): TemporaryCredentials {
  const text = (what: string, value: unknown, maxLength: number): string => {
    if (typeof value === 'string' && value.length <= maxLength && printable.test(value)) return value;
    throw new Failure('TargetRefused', `the credentials that were given have no usable ${what}`);
  };
  const expiresAt = Date.parse(text('time of expiry', found.expiration, 64));
  if (Number.isNaN(expiresAt))
    throw new Failure('TargetRefused', 'the credentials that were given have no usable time of expiry');
  return {
    accessKeyId: text('name', found.accessKeyId, 256),
    secretAccessKey: text('secret', found.secretAccessKey, 1024),
    // Not every server has one.
    ...(found.sessionToken === undefined || found.sessionToken === ''
      ? {}
      : { sessionToken: text('token', found.sessionToken, 32_768) }),
    expiresAt,
  };
}
