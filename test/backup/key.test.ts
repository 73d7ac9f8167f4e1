import { describe, expect, it } from 'vitest';
import { BadKey, parseKeys } from '../../src/backup/key.ts';

const inBase64 = (bytes: number, fill = 1): string => Buffer.alloc(bytes, fill).toString('base64');

describe('a key file', () => {
  it('holds a key, and older ones on further lines', () => {
    const [first, second] = parseKeys(`${inBase64(32, 1)}\n\n${inBase64(32, 2)}\r\n`);
    expect(first.secret).toEqual(Buffer.alloc(32, 1));
    expect(second?.secret).toEqual(Buffer.alloc(32, 2));
    expect(first.id).not.toBe(second?.id);
    expect(first.id).toBe(parseKeys(inBase64(32, 1))[0].id);
  });

  it.each([
    ['', /the file is empty/],
    ['\n \n', /the file is empty/],
    [inBase64(31), /line 1 holds 31 bytes in base64, and a key has 32/],
    [inBase64(33), /line 1 holds 33 bytes/],
    [`${inBase64(32)}\n${inBase64(16)}`, /line 2 holds 16 bytes/],
    ['not a key at all!', /line 1 is not base64/],
  ])('of %j is refused in words that hold nothing of it', (text, message) => {
    expect(() => parseKeys(text)).toThrow(BadKey);
    expect(() => parseKeys(text)).toThrow(message);
  });
});
