/** What the agent decides by the state in manifests of PostgreSQL. */
import { describe, expect, it } from 'vitest';
import { postgresDriver } from '../../../src/engines/postgres/agent/driver.ts';

const state = {
  engine: 'postgres',
  systemId: '7300000000000000001',
  timeline: 2,
  startLsn: '0/3000028',
  endLsn: '0/3000100',
  segmentBytes: 2 ** 24,
  files: 900,
  bytes: 20_000_000,
};
const held = (change: object = {}, plainBytes = 40_000_000) => ({
  id: 'b',
  state: { ...state, ...change },
  data: { plainBytes },
});

describe('a later backup', () => {
  it.each<[string, object, number]>([
    ['holds more', { endLsn: '1/0' }, 50_000_000],
    ['holds the same', {}, 40_000_000],
    ['is of a later timeline, which began earlier', { timeline: 3, endLsn: '0/2000000' }, 40_000_000],
  ])('that %s is as it should be', (_, change, bytes) => {
    expect(postgresDriver.lossSince({ ...held(), id: 'a' }, held(change, bytes))).toBeUndefined();
  });

  it.each<[string, object, number, RegExp]>([
    ['of another database cluster', { systemId: '5' }, 40_000_000, /of the database cluster 5, and a was of 73/],
    ['of an earlier timeline', { timeline: 1 }, 40_000_000, /of timeline 1, and a was of timeline 2/],
    ['that ends earlier', { endLsn: '0/3000099' }, 40_000_000, /ends at 0\/3000099, and a ended at 0\/3000100/],
    ['of few bytes', {}, 3_000_000, /has 3000000 bytes/],
  ])('%s holds suddenly little', (_, change, bytes, words) => {
    expect(postgresDriver.lossSince({ ...held(), id: 'a' }, held(change, bytes))).toMatch(words);
  });
});

describe('a backup of another database cluster', () => {
  const lossAt = (to: string, bytes?: number) => {
    const change = { systemId: '5', timeline: 1, endLsn: '0/2000000' };
    const before = { ...held(), id: 'a', engineVersion: '15.20' };
    return postgresDriver.lossSince(before, { ...held(change, bytes), engineVersion: to });
  };

  it('of a later major version is what an upgrade leads to', () => {
    expect(lossAt('17.12')).toBeUndefined();
    expect(lossAt('17.12', 3_000_000)).toMatch(/has 3000000 bytes/);
  });

  it.each(['15.21', '14.20', 'unknown'])('of %s holds suddenly little', (to) => {
    expect(lossAt(to)).toMatch(/of the database cluster 5/);
  });
});

it.each([
  ['17.2', '17.9', true],
  ['17.9', '17.2', true],
  ['15.20', '17.2', false],
  ['17.2', '15.20', false],
])('files of %s are read by %s: %s', (written, wanted, fits) => {
  expect(postgresDriver.canRead(written, wanted)).toBe(fits);
});
