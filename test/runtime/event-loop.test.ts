import { createHistogram } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { eventLoopCheck } from '../../src/runtime/event-loop.ts';

const ms = 1e6;

it('a block is told once, however many quiet delays were counted before it', () => {
  const delays = createHistogram();
  for (let i = 0; i < 100_000; i++) delays.record(1 * ms);
  delays.record(5_100 * ms);
  const check = eventLoopCheck(delays);
  expect(check()).toMatch(/^the event loop was blocked for 5\d\d\d ms$/);
  expect(check()).toBeUndefined();
  delays.record(1 * ms);
  expect(check()).toBeUndefined();
});

it('a block as long as the lease can bear is none', () => {
  const delays = createHistogram();
  delays.record(4_900 * ms);
  expect(eventLoopCheck(delays)()).toBeUndefined();
});
