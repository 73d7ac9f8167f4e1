/** Requests and limits, written as the API server stores them, so that the desired object compares equal to the live one. */
import { canonicalQuantity } from '../api/quantity.ts';
import type { ResourceRequirements } from './plain.ts';

type Amounts = Readonly<Record<string, string | number | undefined>>;

function canonical(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(amounts).flatMap(([name, amount]) =>
      amount === undefined ? [] : [[name, canonicalQuantity(amount)]],
    ),
  );
}

export function computeResources(spec: {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}): ResourceRequirements {
  return {
    ...(spec.requests === undefined ? {} : { requests: canonical(spec.requests) }),
    ...(spec.limits === undefined ? {} : { limits: canonical(spec.limits) }),
  };
}
