/** Refusals as an API server words them. */
import type { TransportResponse } from '../../../src/runtime/transport.ts';

type RefusalStatus = 403 | 409 | 410 | 422 | 429 | 500 | 503 | 504;

const words: Readonly<Record<RefusalStatus, { readonly reason: string; readonly message: string }>> = {
  403: { reason: 'Forbidden', message: 'exceeded quota: limits the namespace' },
  409: { reason: 'Conflict', message: 'the object has been modified; please apply your changes to the latest version' },
  410: { reason: 'Expired', message: 'The resourceVersion for the provided watch is too old.' },
  422: { reason: 'Invalid', message: 'denied by a policy of this cluster' },
  429: { reason: 'TooManyRequests', message: 'the server has received too many requests' },
  500: { reason: 'InternalError', message: 'an error on the server has prevented the request from succeeding' },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: { reason: 'Timeout', message: 'Too large resource version' },
};

export function refusal(status: RefusalStatus, retryAfterS?: number): TransportResponse<string> {
  const { reason, message } = words[status];
  const details = retryAfterS === undefined ? {} : { details: { retryAfterSeconds: retryAfterS } };
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message, ...details };
  const headers: Record<string, string> = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
  return { status, headers, body: JSON.stringify(body) };
}
