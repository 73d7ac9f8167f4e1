/**
 * Sets of hash slots, as ranges: sorted, disjoint, and no two of them adjacent. Every function takes such sets and gives such a
 * set; `slotSet` makes one of ranges in any order.
 */
export interface SlotRange {
  readonly first: number;
  /** Of the range, too. */
  readonly last: number;
}

export type SlotSet = readonly SlotRange[];

export const slotCount = 16_384;

export const allSlots: SlotSet = [{ first: 0, last: slotCount - 1 }];

export function isSlot(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < slotCount;
}

export function slotSet(ranges: readonly SlotRange[]): SlotSet {
  const sorted = [...ranges].sort((a, b) => a.first - b.first || a.last - b.last);
  const merged: SlotRange[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous === undefined || range.first > previous.last + 1) merged.push(range);
    else merged[merged.length - 1] = { first: previous.first, last: Math.max(previous.last, range.last) };
  }
  return merged;
}

export function slotsOf(slots: Iterable<number>): SlotSet {
  return slotSet([...slots].map((slot) => ({ first: slot, last: slot })));
}

export function countSlots(set: SlotSet): number {
  return set.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

export function hasSlot(set: SlotSet, slot: number): boolean {
  return set.some(({ first, last }) => first <= slot && slot <= last);
}

/** One after the other, ascending. */
export function* eachSlot(set: SlotSet): Generator<number> {
  for (const { first, last } of set) for (let slot = first; slot <= last; slot++) yield slot;
}

export function unionOf(...sets: readonly SlotSet[]): SlotSet {
  return slotSet(sets.flat());
}

/** What is in `set` and not in `without`. */
export function differenceOf(set: SlotSet, without: SlotSet): SlotSet {
  return set.flatMap((range) => {
    const left: SlotRange[] = [];
    let { first } = range;
    for (const hole of without) {
      if (hole.last < first || hole.first > range.last) continue;
      if (hole.first > first) left.push({ first, last: hole.first - 1 });
      first = Math.max(first, hole.last + 1);
    }
    return first > range.last ? left : [...left, { first, last: range.last }];
  });
}

export function intersectionOf(one: SlotSet, other: SlotSet): SlotSet {
  return differenceOf(one, differenceOf(one, other));
}

export function areSameSlots(one: SlotSet, other: SlotSet): boolean {
  return (
    one.length === other.length &&
    one.every(({ first, last }, i) => first === other[i]?.first && last === other[i]?.last)
  );
}

/** The lowest ones. */
export function firstSlots(set: SlotSet, count: number): SlotSet {
  const taken: SlotRange[] = [];
  let left = count;
  for (const { first, last } of set) {
    if (left <= 0) break;
    const end = Math.min(last, first + left - 1);
    taken.push({ first, last: end });
    left -= end - first + 1;
  }
  return taken;
}

/** What follows `ADDSLOTSRANGE` and `SLOTSRANGE`: pairs of the first and the last slot. */
export function slotArguments(set: SlotSet): string[] {
  return set.flatMap(({ first, last }) => [String(first), String(last)]);
}

/** Of such a text as `slotText` makes; undefined of any other. */
export function parseSlots(text: string): SlotSet | undefined {
  if (text === '') return [];
  const ranges: SlotRange[] = [];
  for (const word of text.split(', ', slotCount + 1)) {
    const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(word) ?? [];
    const range = { first: Number(first), last: Number(last) };
    if (first === '' || !isSlot(range.first) || !isSlot(range.last) || range.first > range.last) return undefined;
    ranges.push(range);
  }
  return slotSet(ranges);
}

/** For people: `0-5460, 8191`. */
export function slotText(set: SlotSet): string {
  return set.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}
