import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalQuantity,
  compareQuantities,
  QuantityError,
  quantityPattern,
  thousandths,
  unitsOf,
} from '../../src/api/quantity.ts';

describe('a quantity', () => {
  test.each([
    ['1Gi', 1_073_741_824],
    ['1.5Gi', 1_610_612_736],
    ['1G', 1_000_000_000],
    ['100m', 1],
    ['1001m', 2],
    [3, 3],
    ['0', 0],
    // Of objects that others have written.
    ['1e3', 1000],
    ['2E+6', 2_000_000],
    ['5e-1', 1],
    ['1e-9', 1],
    ['1E', 1e18],
    ['1P', 1e15],
    ['1Pi', 1024 ** 5],
    ['1Ei', 1024 ** 6],
    ['1000001u', 2],
    ['1n', 1],
  ])('%s is %d whole units', (quantity, units) => {
    expect(unitsOf(quantity)).toBe(units);
  });

  test.each(['', '1 Gi', 'Gi', '.', '1e', '1e100', '1e-10', '1e3Gi', '1gi', '-1', '.5', '1.2345', '9'.repeat(33)])(
    'is not %j',
    (text) => {
      expect(() => thousandths(text)).toThrow(QuantityError);
    },
  );

  test.each([
    ['1024Mi', '1Gi'],
    ['1536Mi', '1536Mi'],
    ['1.5Gi', '1536Mi'],
    ['1000Mi', '1000Mi'],
    ['1025Ki', '1025Ki'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1500m', '1500m'],
    ['2', '2'],
    [2, '2'],
    ['100000', '100k'],
    ['1024', '1024'],
    ['0.5Ki', '512'],
    ['0.001Ki', '1024m'],
    ['0Gi', '0'],
    ['1024Ti', '1Pi'],
    ['1000T', '1P'],
  ])('%s is stored as %s', (quantity, canonical) => {
    expect(canonicalQuantity(quantity)).toBe(canonical);
  });

  const quantities = fc
    .tuple(
      fc.nat({ max: 999_999 }),
      fc.option(fc.stringMatching(/^[0-9]{1,3}$/), { nil: undefined }),
      fc.constantFrom('', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti'),
    )
    .map(([whole, fraction, suffix]) => `${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`);

  test('keeps its amount in canonical form, which is a fixed point', () => {
    fc.assert(
      fc.property(quantities, (text) => {
        expect(text).toMatch(new RegExp(quantityPattern));
        const canonical = canonicalQuantity(text);
        expect(compareQuantities(canonical, text)).toBe(0);
        expect(canonicalQuantity(canonical)).toBe(canonical);
      }),
    );
  });

  test('orders as amounts do', () => {
    expect(['1Gi', '1G', '999M', '1500m', '2', '1Ki', '1k'].sort(compareQuantities)).toEqual([
      '1500m',
      '2',
      '1k',
      '1Ki',
      '999M',
      '1G',
      '1Gi',
    ]);
  });
});
