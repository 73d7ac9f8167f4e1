import { expect, test } from 'vitest';
import { durationMs } from '../../src/api/duration.ts';

test.each([
  ['500ms', 500],
  ['3s', 3000],
  ['2m', 120_000],
])('%s is %d ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each(['', '3', '1h', '1m30s', '-1s', '1.5s'])('%j is no duration', (text) => {
  expect(() => durationMs(text)).toThrow('is no duration');
});
