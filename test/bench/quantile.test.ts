import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samplesOf } from '../support/metrics-text.ts';
import { bucketQuantile, bucketsOf, quantile, since } from './quantile.ts';

describe('the quantile of a list', () => {
  it.each([
    [[], 0.5, undefined],
    [[7], 0.99, 7],
    [[3, 1, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, i) => i + 1), 0.99, 99],
    [[1, 2], 0, 1],
  ])('%j at %d is %s', (values, q, expected) => {
    expect(quantile(values, q)).toBe(expected);
  });

  it('has at least its share of all values at or below it, and is one of them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const found = quantile(values, q) ?? Number.NaN;
        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(q * values.length - 1e-9);
      }),
    );
  });
});

describe('the quantile of a histogram', () => {
  const text = (high: readonly number[], low: readonly number[]): string =>
    [high, low]
      .flatMap((counts, i) =>
        ['0.1', '1', '+Inf'].map((le, j) => `wait_seconds_bucket{le="${le}",lane="${i}"} ${counts[j]}`),
      )
      .concat('wait_seconds_count{lane="0"} 9')
      .join('\n');
  const buckets = (high: readonly number[], low: readonly number[] = [0, 0, 0]) =>
    bucketsOf(samplesOf(text(high, low)), 'wait_seconds');

  it('is interpolated within its bucket', () => {
    expect(bucketQuantile(buckets([0, 100, 100]), 0.5)).toBeCloseTo(0.55);
    expect(bucketQuantile(buckets([50, 100, 100]), 0.5)).toBeCloseTo(0.1);
  });

  it('adds up all series', () => {
    expect(bucketQuantile(buckets([10, 10, 10], [0, 10, 10]), 0.99)).toBeCloseTo(0.982);
  });

  it('of what happened since leaves out what was before', () => {
    expect(bucketQuantile(since(buckets([90, 90, 90]), buckets([90, 100, 100])), 0.5)).toBeCloseTo(0.55);
  });

  it('beyond the last bound is that bound, and of nothing there is none', () => {
    expect(bucketQuantile(buckets([0, 0, 5]), 0.99)).toBe(1);
    expect(bucketQuantile(buckets([0, 0, 0]), 0.99)).toBeUndefined();
  });
});
