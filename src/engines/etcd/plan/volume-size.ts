/** What the members' volumes have, which is not what the spec wants while one grows, or where it cannot. */
import { QuantityError, unitsOf } from '../../../api/quantity.ts';
import type { Children, Claim } from '../../../resources/children.ts';
import type { Situation } from '../observe/situation.ts';

/** The volumes of members, those of removed members left out, and the pods that may mount them. */
export function volumesOf({
  claims,
  children,
}: Pick<Situation, 'claims' | 'children'>): Pick<Children, 'claims' | 'pods'> {
  return { claims: [...claims.values()], pods: children.pods };
}

/** Bytes of the smallest one; no more than the spec names. */
export function volumeBytes({ spec, claims }: Pick<Situation, 'spec' | 'claims'>): number {
  return Math.min(unitsOf(spec.storage.size), ...[...claims.values()].flatMap(capacityOf));
}

/** None where it is not bound yet, or in a form that Kubernetes does not know. */
function capacityOf({ status }: Claim): number[] {
  const told = status?.capacity?.storage;
  try {
    return told === undefined ? [] : [unitsOf(told)];
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return [];
  }
}
