import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MaintenanceWindow, weekdays } from '../../src/api/maintenance.ts';
import { nextWindow, unknownZones } from '../../src/plan/maintenance-window.ts';

type Written = Partial<MaintenanceWindow>;

const window = (fields: Written = {}): MaintenanceWindow => ({
  start: '22:00',
  duration: '2h',
  timeZone: 'Etc/UTC',
  ...fields,
});

function said(fields: Written, now: string): string {
  const state = nextWindow([window(fields)], Date.parse(now));
  if (state.isOpen) return 'open';
  return state.opensAt === undefined ? 'never' : new Date(state.opensAt).toISOString();
}

/** 2026-11-29 is a Sunday. In Berlin, the clocks go back on 2026-10-25 and forward on 2026-03-29. */
describe('a window', () => {
  it.each<readonly [story: string, fields: Written, now: string, said: string]>([
    ['opens on its minute', {}, '2026-11-29T22:00:00Z', 'open'],
    ['is closed right before', {}, '2026-11-29T21:59:59Z', '2026-11-29T22:00:00.000Z'],
    ['lasts over midnight', { start: '23:30' }, '2026-11-30T01:29:59Z', 'open'],
    ['is closed at its end', { start: '23:30' }, '2026-11-30T01:30:00Z', '2026-11-30T23:30:00.000Z'],
    ['of a Sunday lasts into Monday', { days: ['Sun'], start: '23:30' }, '2026-11-30T00:10:00Z', 'open'],
    ['opens again a week later', { days: ['Sun'] }, '2026-11-30T00:00:00Z', '2026-12-06T22:00:00.000Z'],
    ['opens on the next of its days', { days: ['Tue', 'Sat'] }, '2026-11-29T12:00:00Z', '2026-12-01T22:00:00.000Z'],
    ['goes by its time zone', { timeZone: 'Europe/Berlin' }, '2026-11-29T12:00:00Z', '2026-11-29T21:00:00.000Z'],
    ['goes by summer time', { timeZone: 'Europe/Berlin' }, '2026-07-01T12:00:00Z', '2026-07-01T20:00:00.000Z'],
    [
      'has its days in its zone',
      { days: ['Mon'], start: '01:00', timeZone: 'Asia/Tokyo' },
      '2026-11-28T12:00:00Z',
      '2026-11-29T16:00:00.000Z',
    ],
    [
      'opens at the first of two equal times',
      { start: '02:30', timeZone: 'Europe/Berlin' },
      '2026-10-24T12:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'opens later where the clocks leave its time out',
      { start: '02:30', timeZone: 'Europe/Berlin' },
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:30:00.000Z',
    ],
    ['of a zone that is none never opens', { timeZone: 'Mars/Olympus' }, '2026-11-29T22:30:00Z', 'never'],
    ['of a whole day is open at all times', { duration: '24h' }, '2026-11-29T12:00:00Z', 'open'],
  ])('%s', (_, fields, now, words) => expect(said(fields, now)).toBe(words));
});

it('without windows, any time will do', () => expect(nextWindow([], 0)).toEqual({ isOpen: true }));

it('names the zones that nobody knows', () => {
  expect(unknownZones([window(), window({ timeZone: 'Mars/Olympus' })])).toEqual(['Mars/Olympus']);
});

const anyWindow = fc.record({
  days: fc.subarray([...weekdays], { minLength: 1 }),
  start: fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`),
  duration: fc.integer({ min: 10, max: 1440 }).map((minutes) => `${minutes}m`),
  timeZone: fc.constantFrom('Etc/UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia'),
});
const anyTime = fc.integer({ min: Date.parse('2025-01-01'), max: Date.parse('2028-01-01') });

it('the next window opens at the time of the spec, within eight days, and no earlier', () => {
  fc.assert(
    fc.property(
      fc.array(anyWindow, { minLength: 1, maxLength: 3 }),
      anyTime,
      fc.float({ min: 0, max: 1 }),
      (windows, now, share) => {
        const state = nextWindow(windows, now);
        if (state.isOpen) return;
        const opensAt = state.opensAt ?? Number.NaN;
        expect(opensAt).toBeGreaterThan(now);
        expect(opensAt - now).toBeLessThanOrEqual(8 * 24 * 60 * 60 * 1000);
        expect(nextWindow(windows, opensAt)).toEqual({ isOpen: true });
        const between = now + Math.floor((opensAt - now - 1) * (Number.isNaN(share) ? 0 : share));
        expect(nextWindow(windows, between)).toEqual({ isOpen: false, opensAt });
      },
    ),
    { numRuns: 40 },
  );
});

it('one window more never closes another', () => {
  fc.assert(
    fc.property(anyWindow, anyWindow, anyTime, (one, other, now) => {
      if (nextWindow([one], now).isOpen) expect(nextWindow([one, other], now).isOpen).toBe(true);
    }),
    { numRuns: 40 },
  );
});
