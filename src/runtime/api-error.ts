/**
 * What can go wrong between this process and the API server, as two types.
 *
 * `ApiError`: the server answered and refused. `ApiUnreachable`: no full answer came; `maybeSent` then tells whether
 * the server may have acted all the same, which decides whether a write may be repeated.
 */
import { shortened } from '../api/bounds.ts';

/** The part of a Kubernetes `Status` that this project reads. */
export interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly uid?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly StatusCause[];
  };
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** Path of the offending field, for example `spec.replicas`. */
  readonly field?: string;
}

export interface ApiErrorFields {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterMs?: number | undefined;
  readonly method: string;
  readonly path: string;
}

/** The API server answered with an error. `reason` is the server's own word (`NotFound`, `Conflict`, `Expired`, ...). */
export class ApiError extends Error {
  readonly code = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** The server's own message, shortened: `message` says besides what was asked. */
  readonly words: string;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  readonly method: string;
  readonly path: string;

  constructor(fields: ApiErrorFields, options?: ErrorOptions) {
    const words = shortened(fields.message);
    super(`${fields.method} ${fields.path}: ${fields.status} ${fields.reason}: ${words}`, options);
    this.name = 'ApiError';
    this.words = words;
    this.status = fields.status;
    this.reason = fields.reason;
    this.causes = fields.causes ?? [];
    this.retryAfterMs = fields.retryAfterMs;
    this.method = fields.method;
    this.path = fields.path;
  }
}

/** No complete answer: connection refused or lost, handshake failed, or out of time. The cause is the socket's error. */
export class ApiUnreachable extends Error {
  readonly code = 'ApiUnreachable';
  readonly method: string;
  readonly path: string;
  /** False only when it is certain that the server has not seen the request. */
  readonly maybeSent: boolean;

  constructor(method: string, path: string, maybeSent: boolean, cause: unknown) {
    super(`${method} ${path}: the API server could not be reached: ${reasonOf(cause)}`, { cause });
    this.name = 'ApiUnreachable';
    this.method = method;
    this.path = path;
    this.maybeSent = maybeSent;
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return [code, cause.message].filter((part) => part !== '').join(': ') || cause.name;
}

/** The error for a response with a status of 400 or more. The body need not be a Status, nor JSON at all. */
export function apiErrorOf(
  request: { readonly method: string; readonly path: string },
  response: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string },
  now: number,
): ApiError {
  const status = parseStatus(response.body);
  return new ApiError({
    method: request.method,
    path: request.path,
    status: response.status,
    reason: status?.reason ?? defaultReason(response.status),
    message: status?.message ?? (response.body.slice(0, 200).trim() || 'the answer has no body'),
    causes: status?.details?.causes ?? [],
    retryAfterMs: retryAfterMs(response.headers['retry-after'], now) ?? secondsToMs(status?.details?.retryAfterSeconds),
  });
}

/** The error for a `Status` that came as an ERROR event inside a watch, where the HTTP status was 200. */
export function apiErrorOfStatus(
  request: { readonly method: string; readonly path: string },
  status: Status,
): ApiError {
  const code = status.code ?? 500;
  return new ApiError({
    ...request,
    status: code,
    reason: status.reason ?? defaultReason(code),
    message: status.message ?? 'the event has no message',
    causes: status.details?.causes ?? [],
    retryAfterMs: secondsToMs(status.details?.retryAfterSeconds),
  });
}

function parseStatus(body: string): Status | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    return 'kind' in parsed && parsed.kind === 'Status' ? (parsed as Status) : undefined;
  } catch {
    // A proxy's HTML page or a plain-text refusal: the caller quotes it as it is.
    return undefined;
  }
}

/** Both forms of the header: seconds, or an HTTP date. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1000;
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Gone',
  422: 'Invalid',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function defaultReason(status: number): string {
  return reasons[status] ?? (status >= 500 ? 'InternalError' : 'Unknown');
}

/** A webhook chooses the status and the reason of its denials itself. */
const denial = /^admission webhook "[^"]+" denied the request/;

/** A webhook has denied the request. What its status means elsewhere, it does not mean here: nothing has changed. */
export function isDenied({ words }: Pick<ApiError, 'words'>): boolean {
  return denial.test(words);
}

/** The API server's own answer with this status. */
function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status && !isDenied(error);
}

export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404);
}

/** A create met an object of that name. Both this and `isConflict` are status 409. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason === 'AlreadyExists';
}

/** The object changed since it was read, another manager owns a field, or a precondition failed. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== 'AlreadyExists';
}

/** The resourceVersion or continue token is older than the server's history: list again. */
export function isExpired(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** The server has not yet seen the resourceVersion that was asked for: it lags, or its history was rewritten. */
export function isFutureVersion(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    error.status === 504 &&
    (error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge') ||
      error.message.includes('Too large resource version'))
  );
}
