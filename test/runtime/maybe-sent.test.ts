import { expect, it } from 'vitest';
import { maybeSent } from '../../src/runtime/maybe-sent.ts';

const error = (fields: object): Error => Object.assign(new Error('failed'), fields);
const refused = error({ code: 'ECONNREFUSED', syscall: 'connect' });
const reset = error({ code: 'ECONNRESET', syscall: 'read' });

it.each<readonly [story: string, error: unknown, sent: boolean]>([
  ['nobody listens', refused, false],
  ['the name is unknown', error({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), false],
  ['the certificate has expired', error({ code: 'CERT_HAS_EXPIRED' }), false],
  ['the connection was not made in time', error({ code: 'UND_ERR_CONNECT_TIMEOUT' }), false],
  ['the connection was reset', reset, true],
  ['the headers did not come in time', error({ code: 'UND_ERR_HEADERS_TIMEOUT' }), true],
  ['every address refused', new AggregateError([refused, refused]), false],
  ['one address refused, and a connection to the other was reset', new AggregateError([refused, reset]), true],
  ['what failed is no error', 'out of time', true],
])('%s', (_, cause, sent) => {
  expect(maybeSent(cause)).toBe(sent);
});
