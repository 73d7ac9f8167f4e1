/**
 * Kubernetes quantities. What people write in our resources has no sign, no exponent, and at most three decimals; what
 * others have written into claims and pods is read in every form that the API server gives it.
 *
 * Arithmetic is exact, in thousandths. `canonicalQuantity` writes an amount as the API server stores it, so that what a
 * builder makes compares equal to what comes back.
 */

export const quantityPattern = '^[0-9]{1,12}(\\.[0-9]{1,3})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$';

const shape = /^([0-9]{1,32})(?:\.([0-9]{1,3}))?(n|u|m|[kMGTPE]|[KMGTPE]i|[eE][+]?[0-9]{1,2}|[eE]-[0-9])?$/;

/** In billionths, the least that Kubernetes knows. */
const factors: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1000n,
  m: 1000n ** 2n,
  '': 1000n ** 3n,
  k: 1000n ** 4n,
  M: 1000n ** 5n,
  G: 1000n ** 6n,
  T: 1000n ** 7n,
  P: 1000n ** 8n,
  E: 1000n ** 9n,
  Ki: 1000n ** 3n * 1024n,
  Mi: 1000n ** 3n * 1024n ** 2n,
  Gi: 1000n ** 3n * 1024n ** 3n,
  Ti: 1000n ** 3n * 1024n ** 4n,
  Pi: 1000n ** 3n * 1024n ** 5n,
  Ei: 1000n ** 3n * 1024n ** 6n,
};

const perThousandth = 1000n ** 2n;

/** Largest first, as the API server tries them. */
const binary = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki', ''] as const;
const decimal = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm'] as const;

export class QuantityError extends Error {}

function factorOf(suffix: string): bigint | undefined {
  const [, exponent] = /^[eE]([+-]?[0-9]+)$/.exec(suffix) ?? [];
  return exponent === undefined ? factors[suffix] : 10n ** BigInt(9 + Number(exponent));
}

function parts(text: string): { readonly thousandths: bigint; readonly suffix: string } {
  const match = shape.exec(text);
  const [, whole, fraction = '', suffix = ''] = match ?? [];
  const factor = factorOf(suffix);
  if (whole === undefined || factor === undefined) throw new QuantityError(`${JSON.stringify(text)} is no quantity`);
  const scaled = BigInt(whole + fraction.padEnd(3, '0')) * factor;
  // A fraction of a thousandth is rounded up, as the API server does.
  const divisor = 1000n * perThousandth;
  return { thousandths: (scaled + divisor - 1n) / divisor, suffix };
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
  const inThousandths = (unit: string): bigint => (factors[unit] ?? perThousandth) / perThousandth;
  const unit = family.find((each) => amount % inThousandths(each) === 0n) ?? 'm';
  return `${amount / inThousandths(unit)}${unit}`;
}
