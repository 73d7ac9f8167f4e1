import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { clientPasswords } from '../../../src/engines/redis/client/password.ts';
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { acceptedBy, knowsAll } from '../../../src/engines/redis/observe/accepted.ts';

describe('the passwords that a Secret names', () => {
  it.each([
    [{ password: 'a' }, ['a']],
    [{ password: 'a', 'password-next': 'b\nc', 'password-previous': 'd', 'password-other': 'e' }, ['a', 'b', 'd']],
    [{ password: 'a', 'password-next': 'a' }, ['a']],
    [{ password: 'a', 'key-next': 'b' }, ['a']],
  ])('%j are %j', (secret, named) => {
    expect(clientPasswords(secret, 'password')).toEqual({ hashes: named.map(hashOf) });
  });

  it('are under the key that the spec names', () => {
    expect(clientPasswords({ key: 'a', 'key-next': 'b', 'password-next': 'c' }, 'key').hashes).toEqual(
      ['a', 'b'].map(hashOf),
    );
  });

  it.each([
    ['a\tb', 'key password-next has a control character, or is not UTF-8'],
    ['a\r\n', 'key password-next has a control character, or is not UTF-8'],
    ['a\ufffdb', 'key password-next has a control character, or is not UTF-8'],
    ['\nsecond line', 'key password-next is empty'],
    ['é'.repeat(257), 'key password-next has more than 512 bytes'],
    ['a "quoted" \\ one, with blanks', undefined],
    ['x'.repeat(512), undefined],
  ])('may be of no use: %j', (next, why) => {
    expect(clientPasswords({ password: 'pw', 'password-next': next }, 'password').unusable).toBe(why);
  });
});

describe('a user', () => {
  const on = (...passwords: readonly string[]): Reply => ['flags', ['on'], 'passwords', passwords.map(hashOf)];

  it.each<readonly [user: Reply, named: readonly string[], knows: boolean]>([
    [['flags', ['on', 'nopass'], 'passwords', []], ['pw'], true],
    [on('a', 'pw'), ['pw'], true],
    [on('a', 'pw'), ['pw', 'b'], false],
    [on('a'), ['pw'], false],
    [null, ['pw'], false],
    ['OK', ['pw'], false],
  ])('%j knows %j: %s', (user, named, knows) => {
    expect(knowsAll(acceptedBy(user), named.map(hashOf))).toBe(knows);
  });
});
