/** Sets of slots as ranges, compared with sets of numbers. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClusterNode } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import {
  allSlots,
  areSameSlots,
  countSlots,
  differenceOf,
  eachSlot,
  firstSlots,
  hasSlot,
  intersectionOf,
  type SlotSet,
  slotArguments,
  slotCount,
  slotSet,
  slotsOf,
  slotText,
  unionOf,
} from '../../../../src/engines/redis/kind/slots.ts';
import { servingIn } from '../../../../src/engines/redis/observe/shards/situation.ts';

const ranges = fc.array(
  fc.tuple(fc.nat(60), fc.nat(9)).map(([first, more]) => ({ first, last: first + more })),
  { maxLength: 12 },
);
const sets = ranges.map(slotSet);
const numbers = (set: SlotSet): Set<number> => new Set(eachSlot(set));

function isNormal(set: SlotSet): boolean {
  return set.every(({ first, last }, i) => first <= last && (i === 0 || first > (set[i - 1]?.last ?? 0) + 1));
}

it('a set of slots does what a set of numbers does', () => {
  fc.assert(
    fc.property(sets, sets, fc.nat(70), (one, other, n) => {
      const [a, b] = [numbers(one), numbers(other)];
      const both = unionOf(one, other);
      const left = differenceOf(one, other);
      const shared = intersectionOf(one, other);
      const lowest = firstSlots(one, n);
      for (const set of [one, both, left, shared, lowest]) expect(isNormal(set)).toBe(true);
      expect(numbers(both)).toEqual(new Set([...a, ...b].sort((x, y) => x - y)));
      expect([...numbers(left)]).toEqual([...a].filter((slot) => !b.has(slot)));
      expect([...numbers(shared)]).toEqual([...a].filter((slot) => b.has(slot)));
      expect([...numbers(lowest)]).toEqual([...a].slice(0, n));
      expect(countSlots(one)).toBe(a.size);
      expect(hasSlot(one, n)).toBe(a.has(n));
      expect(slotsOf(a)).toEqual(one);
      expect(areSameSlots(unionOf(left, shared), one)).toBe(true);
    }),
  );
});

it('what is told to servers and to people', () => {
  const set = slotSet([
    { first: 7, last: 7 },
    { first: 0, last: 4 },
    { first: 5, last: 5 },
  ]);
  expect([slotArguments(set), slotText(set)]).toEqual([['0', '5', '7', '7'], '0-5, 7']);
  expect(countSlots(allSlots)).toBe(slotCount);
});

it('of two primaries of a shard, the newer word about the same slots counts, and else more slots', () => {
  const primary = (slots: SlotSet, epoch: number) => ({ self: { role: 'primary', slots, epoch } as ClusterNode });
  const most = slotSet([{ first: 0, last: 99 }]);
  const [older, newer, other] = [primary(most, 3), primary(most, 5), primary(slotsOf([700]), 9)];
  expect(servingIn([older, newer])).toBe(newer);
  expect(servingIn([newer, older])).toBe(newer);
  expect(servingIn([other, newer])).toBe(newer);
  expect(servingIn([newer, other])).toBe(newer);
  expect(servingIn([primary([], 9)])).toBeUndefined();
});
