/**
 * A ResourceQuota that is used up, as the API server tells of it. A pod that restarts gives its share back before another
 * takes its place, so the other fits unless its containers ask for more than those of now and the quota has no room for that, or the quota has
 * been made smaller than what is used.
 */
import { QuantityError, thousandths } from '../api/quantity.ts';
import type { ContainerOf } from '../resources/children.ts';

/** Requested, used and limited, each as `limits.memory=2Gi,pods=1`: of what does not fit alone. */
const exceeded = /exceeded quota: .+, requested: \S+, used: (\S+), limited: (\S+)$/;
const counted = /^(?:(requests|limits)\.)?(cpu|memory)$/;

/** False, too, where that cannot be told: what others add to a pod, they add to both. */
export function outgrowsQuota(words: string, wanted: readonly ContainerOf[], has: readonly ContainerOf[]): boolean {
  const [, used = '', limited = ''] = exceeded.exec(words) ?? [];
  const limits = amountsIn(limited);
  return [...amountsIn(used)].some(([name, amount]) => {
    const limit = limits.get(name);
    const growth = growthOf(name, wanted, has);
    return limit !== undefined && amount + growth > limit;
  });
}

function growthOf(name: string, wanted: readonly ContainerOf[], has: readonly ContainerOf[]): bigint {
  const [, kind = 'requests', resource = ''] = counted.exec(name) ?? [];
  const amountOf = (container: ContainerOf): bigint | undefined =>
    amount(container.resources?.[kind as 'requests' | 'limits']?.[resource]);
  const nowOf = ({ name: of }: ContainerOf): ContainerOf | undefined => has.find((one) => one.name === of);
  // Where none is known, they have other names now, and one is no addition.
  if (!wanted.some(nowOf)) return 0n;
  return wanted.reduce((sum, container) => {
    const now = nowOf(container);
    const [after, before] = [amountOf(container), now === undefined ? 0n : amountOf(now)];
    return after === undefined || before === undefined ? sum : sum + after - before;
  }, 0n);
}

function amountsIn(list: string): ReadonlyMap<string, bigint> {
  const pairs = list.split(',').map((pair) => pair.split('='));
  return new Map(
    pairs.flatMap(([name = '', quantity]): [string, bigint][] => {
      const found = amount(quantity);
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

/** In thousandths; undefined where it is in no form that is known. */
function amount(quantity: string | number | undefined): bigint | undefined {
  if (quantity === undefined) return undefined;
  try {
    return thousandths(quantity);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}
