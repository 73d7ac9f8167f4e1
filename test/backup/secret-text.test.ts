/** What looks like a secret leaves no text for people. */
import { expect, it } from 'vitest';
import { withoutSecrets } from '../../src/backup/secret-text.ts';

it.each<[string, string]>([
  ['dial http://me:pass@host:9000/x failed', 'dial http://[redacted]@host:9000/x failed'],
  ['GET /x?X-Amz-Signature=abc0&a=1', 'GET /x?X-Amz-Signature=[redacted]&a=1'],
  ['Authorization: Bearer abcdefgh.ij', 'Authorization: Bearer [redacted]'],
  ['token eyJhbGciOiJSUzI1NiJ9.eyJhdWQ.sig is too old', 'token [redacted] is too old'],
  ['requirepass: foo, password = "bar" x', 'requirepass: foo, password = "[redacted]" x'],
  ['aws_secret_access_key=abc session_token: xyz', 'aws_secret_access_key=[redacted] session_token: [redacted]'],
  ['key ASIAABCDEFGHIJKLMNOP is not known', 'key [redacted] is not known'],
  [`${Buffer.alloc(32, 7).toString('base64')}`, '[redacted]'],
  ['-----BEGIN EC PRIVATE KEY-----\nabc', '[redacted]'],
])('%s', (text, clean) => {
  expect(withoutSecrets(text)).toBe(clean);
});

it.each([
  'listing backups at https://s3.example.com:443: AccessDenied, status 403',
  `sha256 ${'ab'.repeat(32)} of 20261121T030000Z-0123abcd`,
  'the password of root (Secret db-root, key password) is refused',
  'there is no token',
])('leaves as it is: %s', (text) => {
  expect(withoutSecrets(text)).toBe(text);
});
