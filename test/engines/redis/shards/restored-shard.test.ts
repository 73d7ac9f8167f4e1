/** What the agent tells of a volume fits into a termination message, and is read as it was written. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isTellable,
  parseRestoredShard,
  restoredShardText,
} from '../../../../src/engines/redis/client/restored-shard.ts';
import { parseSlots, slotCount, slotsOf, slotText } from '../../../../src/engines/redis/kind/slots.ts';

describe('slots and keys of a restored shard', () => {
  it('are read as they were written, whichever they are', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: slotCount - 1 }), { maxLength: 300 }),
        fc.nat(),
        (slots, lastingKeys) => {
          const shard = { slots: slotsOf(slots), lastingKeys };
          expect(parseRestoredShard(restoredShardText(shard))).toEqual(shard);
          expect(parseSlots(slotText(shard.slots))).toEqual(shard.slots);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('are short enough for a message up to about a thousand ranges', () => {
    const all = Array.from({ length: slotCount }, (_, i) => i);
    const third = slotsOf(all.filter((i) => i % 3 === 0));
    expect(third.length).toBeGreaterThan(5000);
    expect(isTellable(third)).toBe(true);
    // Of random bits, nothing can be left out.
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const some = slotsOf(all.filter(() => random() < 0.05));
    expect([some.length > 700, isTellable(some)]).toEqual([true, true]);
    const scattered = slotsOf(all.filter(() => random() < 0.4));
    expect([scattered.length > 3500, isTellable(scattered)]).toEqual([true, false]);
    expect(restoredShardText({ slots: slotsOf([1, 2, 3]), lastingKeys: 1 }).length).toBeLessThan(50);
  });

  it.each([
    '',
    '7',
    '7 ',
    '7 AAAA',
    '-1 AAAA',
    `7 ${'A'.repeat(4000)}`,
    'x y',
    restoredShardText({ slots: [], lastingKeys: 1 }).slice(0, -4),
  ])('are none where the text is %j', (text) => expect(parseRestoredShard(text)).toBeUndefined());

  it.each(['x', '0-', '5-1', '16384', '0,1', '0-16384', '0 - 5'])('slots are none where the text is %j', (text) =>
    expect(parseSlots(text)).toBeUndefined(),
  );
});
