/** Quantiles: exact ones of a list, and those that a Prometheus histogram lets one tell. */
import type { Sample } from '../support/metrics-text.ts';

/** The value below which the share `q` of all lies, by the nearest rank; undefined of nothing. */
export function quantile(values: readonly number[], q: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}

/** Cumulative counts by upper bound, ascending, the last one `Infinity`. */
export type Buckets = ReadonlyMap<number, number>;

/** Adds up all series of a histogram. */
export function bucketsOf(samples: readonly Sample[], name: string): Buckets {
  const buckets = new Map<number, number>();
  for (const { name: each, labels, value } of samples) {
    if (each !== `${name}_bucket`) continue;
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return new Map([...buckets].sort(([a], [b]) => a - b));
}

/** What was observed between two scrapes. */
export function since(before: Buckets, after: Buckets): Buckets {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/**
 * Within its bucket a quantile is interpolated, as Prometheus does it; beyond the last finite bound it is that bound.
 * Undefined where nothing was observed.
 */
export function bucketQuantile(buckets: Buckets, q: number): number | undefined {
  const rows = [...buckets];
  const total = rows.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  let [lower, below] = [0, 0];
  for (const [bound, count] of rows) {
    if (count >= q * total && count > below) {
      return bound === Number.POSITIVE_INFINITY
        ? lower
        : lower + ((bound - lower) * (q * total - below)) / (count - below);
    }
    if (bound !== Number.POSITIVE_INFINITY) lower = bound;
    below = count;
  }
  return lower;
}
