/**
 * Kubernetes quantities, as far as our schemas allow them: no sign, no exponent, at most three decimals.
 *
 * Arithmetic is exact, in thousandths. `canonicalQuantity` writes an amount as the API server stores it, so that what a
 * builder makes compares equal to what comes back.
 */

export const quantityPattern = '^[0-9]{1,12}(\\.[0-9]{1,3})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$';

const shape = /^([0-9]+)(?:\.([0-9]{1,3}))?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;

const factors: Readonly<Record<string, bigint>> = {
  m: 1n,
  '': 1000n,
  k: 1000n ** 2n,
  M: 1000n ** 3n,
  G: 1000n ** 4n,
  T: 1000n ** 5n,
  Ki: 1000n * 1024n,
  Mi: 1000n * 1024n ** 2n,
  Gi: 1000n * 1024n ** 3n,
  Ti: 1000n * 1024n ** 4n,
};

/** Largest first, as the API server tries them. */
const binary = ['Ti', 'Gi', 'Mi', 'Ki', ''] as const;
const decimal = ['T', 'G', 'M', 'k', '', 'm'] as const;

export class QuantityError extends Error {}

function parts(text: string): { readonly thousandths: bigint; readonly suffix: string } {
  const match = shape.exec(text);
  const [, whole, fraction = '', suffix = ''] = match ?? [];
  const factor = factors[suffix];
  if (whole === undefined || factor === undefined) throw new QuantityError(`${JSON.stringify(text)} is no quantity`);
  const scaled = BigInt(whole + fraction.padEnd(3, '0')) * factor;
  // A fraction of a thousandth is rounded up, as the API server does.
  return { thousandths: (scaled + 999n) / 1000n, suffix };
}

/** The amount in thousandths: exact. Throws QuantityError. */
export function thousandths(quantity: string | number): bigint {
  return parts(String(quantity)).thousandths;
}

/** The amount in units (bytes, CPUs), rounded up to whole ones. Exact up to 2^53. Throws QuantityError. */
export function unitsOf(quantity: string | number): number {
  return Number((thousandths(quantity) + 999n) / 1000n);
}

/** Negative, zero or positive, like a comparator. Throws QuantityError. */
export function compareQuantities(a: string | number, b: string | number): number {
  const difference = thousandths(a) - thousandths(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The same amount as the API server writes it: `1024Mi` is `1Gi`, `1000m` is `1`, `0.5` is `500m`. Throws QuantityError. */
export function canonicalQuantity(quantity: string | number): string {
  const { thousandths: amount, suffix } = parts(String(quantity));
  if (amount === 0n) return '0';
  const isWhole = amount % 1000n === 0n;
  const family = suffix.endsWith('i') && isWhole ? binary : decimal;
  const unit = family.find((s) => amount % (factors[s] ?? 1n) === 0n) ?? 'm';
  return `${amount / (factors[unit] ?? 1n)}${unit}`;
}
