/** Which backup is the newest, whatever clocks said. */
import { describe, expect, it } from 'vitest';
import { doubtAboutNewest, misleadingIds, newestFirst, nextSequence, type Placed } from '../../src/backup/order.ts';

const hour = 3600 * 1000;
const now = Date.UTC(2026, 10, 21, 12);
const idAt = (hours: number): string =>
  `${new Date(now + hours * hour).toISOString().replace(/[-:]|\.\d+/g, '')}-00000000`;
/** `named` and `arrived` in hours from now. */
const placed = (named: number, arrived = named, sequence?: number): Placed => ({
  id: idAt(named),
  modifiedAt: now + arrived * hour,
  ...(sequence === undefined ? {} : { sequence }),
});

describe('the order of backups', () => {
  it('is that of their numbers, then of their ids', () => {
    const all = [placed(-9), placed(5), placed(-3, -3, 2), placed(-4, -4, 1), placed(-2, -2, 2)];
    expect(all.toSorted(newestFirst)).toEqual([all[4], all[2], all[3], all[1], all[0]]);
  });

  it('of two is one way round or the other, and of one with itself neither', () => {
    const [older, newer] = [placed(-2), placed(-1)];
    expect([newestFirst(older, newer), newestFirst(newer, older), newestFirst(newer, newer)]).toEqual([1, -1, 0]);
  });

  it('goes on from the highest number', () => {
    expect(nextSequence([])).toBe(1);
    expect(nextSequence([{}, { sequence: 7 }, { sequence: 3 }])).toBe(8);
  });

  it.each<[string, readonly Placed[], RegExp | undefined]>([
    ['nothing', [], undefined],
    ['one', [placed(-1)], undefined],
    ['ids that fit', [placed(-1), placed(-5)], undefined],
    [
      'ids that the target knows better than',
      [placed(9, -9), placed(-5)],
      /newest by its id, and .* reached the target later/,
    ],
    ['backups that overlapped', [placed(-4, -4), placed(-5, -3)], undefined],
    ['numbers, whatever the target says', [placed(-5, -5, 2), placed(-1, -1, 1)], undefined],
    ['one without a number from before', [placed(-1, -1, 1), placed(-5)], undefined],
    ['one without a number from after', [placed(-5, -5, 1), placed(-1)], /newest by its number/],
    ['one without a number from just now', [placed(-5, -5, 1), placed(-0.5)], /newest by its number/],
    ['one without a number whose clock was an hour ahead', [placed(-5, -5, 1), placed(1)], /newest by its number/],
    ['one without a number whose clock was further ahead', [placed(-5, -5, 1), placed(1 + 1 / 3600)], undefined],
    ['one without a number that arrived within the hour', [placed(-5, -5, 1), placed(-4)], undefined],
    ['one without a number whose clock was ahead', [placed(-5, -5, 1), placed(9, 9)], undefined],
    ['one without a number that was copied', [placed(-5, -5, 1), placed(-9, -1)], undefined],
  ])('of %s leaves no doubt, or says which', (_, backups, words) => {
    if (words === undefined) expect(doubtAboutNewest(backups, now)).toBeUndefined();
    else expect(doubtAboutNewest(backups, now)).toMatch(words);
  });

  it('tells of ids that do not follow it', () => {
    expect([...misleadingIds([placed(-1), placed(9), placed(-5), placed(-2)])]).toEqual([
      [idAt(9), idAt(-1)],
      [idAt(-2), idAt(-5)],
    ]);
    expect([...misleadingIds([placed(-5), placed(-1), placed(-3)])]).toEqual([
      [idAt(-1), idAt(-5)],
      [idAt(-3), idAt(-5)],
    ]);
    expect(misleadingIds([placed(-1), placed(-2), placed(-3)]).size).toBe(0);
  });
});
