import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastDue } from '../../../src/jobs/schedule/due.ts';

const due = (schedule: string, zone: string, before: string): string | undefined => {
  const at = lastDue(schedule, zone, Date.parse(before));
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe('the last time that a schedule was due', () => {
  it.each([
    ['0 3 * * *', 'Etc/UTC', '2026-11-21T03:00:00Z', '2026-11-21T03:00:00.000Z'],
    ['0 3 * * *', 'Etc/UTC', '2026-11-21T02:59:59Z', '2026-11-20T03:00:00.000Z'],
    ['*/15 * * * *', 'Etc/UTC', '2026-11-21T02:59:59Z', '2026-11-21T02:45:00.000Z'],
    ['5/20 1-2 * * *', 'Etc/UTC', '2026-11-21T02:20:00Z', '2026-11-21T02:05:00.000Z'],
    ['0 3 * * *', 'Europe/Berlin', '2026-11-21T12:00:00Z', '2026-11-21T02:00:00.000Z'],
    ['0 3 * * *', 'Europe/Berlin', '2026-07-21T12:00:00Z', '2026-07-21T01:00:00.000Z'],
    ['30 23 * * *', 'America/New_York', '2026-11-21T04:00:00Z', '2026-11-20T04:30:00.000Z'],
    ['0 0 1 * *', 'Etc/UTC', '2026-11-21T00:00:00Z', '2026-11-01T00:00:00.000Z'],
    ['0 0 * * 1', 'Etc/UTC', '2026-11-21T00:00:00Z', '2026-11-16T00:00:00.000Z'],
    ['0 0 13 * 5', 'Etc/UTC', '2026-11-21T00:00:00Z', '2026-11-20T00:00:00.000Z'],
    ['0 0 31 2 *', 'Etc/UTC', '2026-11-21T00:00:00Z', undefined],
    ['0 3 * * *', 'Nowhere/Atall', '2026-11-21T12:00:00Z', undefined],
  ])('%s in %s before %s', (schedule, zone, before, expected) => {
    expect(due(schedule, zone, before)).toBe(expected);
  });

  it('is never later than asked for, and never longer ago than a day for a daily one', () => {
    const times = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) });
    const clock = fc.tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 23 }));
    fc.assert(
      fc.property(times, clock, (now, [minute, hour]) => {
        const found = lastDue(`${minute} ${hour} * * *`, 'Etc/UTC', now) ?? Number.NaN;
        expect(found).toBeLessThanOrEqual(now);
        expect(now - found).toBeLessThan(24 * 60 * 60 * 1000);
        expect([new Date(found).getUTCMinutes(), new Date(found).getUTCHours()]).toEqual([minute, hour]);
      }),
    );
  });
});
