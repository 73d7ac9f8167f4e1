/** Windows of maintenance, which every kind of database has. */
import type { Case, Json } from './case.ts';

const windows = (...list: Json[]): Json => ({ maintenance: { windows: list } });
const refusal = (window: Json, refused: string): Case => ({
  story: `window ${JSON.stringify(window)}`,
  spec: windows(window),
  refused: `spec.maintenance.windows[0]${refused}`,
});
const accepted = (story: string, ...list: Json[]): Case => ({ story, spec: windows(...list) });
const nightly: Json = { start: '22:00', duration: '2h' };
const many = (count: number): Json[] => Array.from({ length: count }, () => nightly);

export const maintenanceCases: readonly Case[] = [
  accepted('a window of every night', nightly),
  accepted('windows of some days', { ...nightly, days: ['Sat', 'Sun'], timeZone: 'Europe/Berlin' }, nightly),
  accepted('the shortest window', { ...nightly, duration: '10m' }),
  accepted('the longest window', { ...nightly, duration: '24h' }),
  accepted('the longest window in minutes', { start: '23:59', duration: '1440m' }),
  accepted('as many windows as there may be', ...many(14)),
  { story: 'one window more', spec: windows(...many(15)), refused: 'spec.maintenance.windows' },
  { story: 'a list without a window', spec: windows(), refused: 'spec.maintenance.windows' },
  refusal({ duration: '2h' }, '.start'),
  refusal({ start: '22:00' }, '.duration'),
  ...['24:00', '9:00', '22:60', '22', '22:300', ''].map((start) => refusal({ ...nightly, start }, '.start')),
  ...['9m', '25h', '1441m', '10000m', '0h', '2', '2d', '90s'].map((duration) =>
    refusal({ ...nightly, duration }, '.duration'),
  ),
  ...['Local', 'berlin', '', `E${'u'.repeat(60)}`].map((timeZone) => refusal({ ...nightly, timeZone }, '.timeZone')),
  refusal({ ...nightly, days: [] }, '.days'),
  refusal({ ...nightly, days: ['Monday'] }, '.days[0]'),
  refusal({ ...nightly, days: ['Mon', 'Mon'] }, '.days[1]'),
  refusal({ ...nightly, days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun', 'Mon'] }, '.days'),
];
