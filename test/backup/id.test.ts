import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backupId, timeOfId } from '../../src/backup/id.ts';

const chance = fc.uint8Array({ minLength: 4, maxLength: 4 });
const moment = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });

describe('the id of a backup', () => {
  it('begins with its time, to the second', () => {
    const id = backupId(Date.UTC(2026, 10, 21, 12, 45, 1, 999), Buffer.from('1a2b3c4d', 'hex'));
    expect(id).toBe('20261121T124501Z-1a2b3c4d');
    expect(timeOfId(id)).toBe(Date.UTC(2026, 10, 21, 12, 45, 1));
  });

  it('sorts by age', () => {
    fc.assert(
      fc.property(moment, moment, chance, chance, (a, b, x, y) => {
        const [first, second] = [backupId(a, x), backupId(b, y)];
        fc.pre(timeOfId(first) !== timeOfId(second));
        expect(first < second).toBe(a < b);
      }),
    );
  });

  it.each(['', '20261121T124501Z', '20261321T124501Z-1a2b3c4d', '../../etc', '20261121T124501Z-1A2B3C4D'])(
    'is not %j',
    (text) => {
      expect(timeOfId(text)).toBeUndefined();
    },
  );
});
