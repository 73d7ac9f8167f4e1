/** Volumes grow with the spec, each by its own claim, whatever else goes on: a full disk must not block its growth. */
import { canonicalQuantity, compareQuantities } from '../api/quantity.ts';
import { persistentVolumeClaims } from '../api/resource.ts';
import type { Claim } from '../resources/children.ts';
import type { ObjectStep } from './plan.ts';
import { refOf } from './ref.ts';

/** `wanted` as in `storage.size`; `claims` are those of the members that there are. A claim that somebody has made larger than the spec is left as it is: claims never shrink. */
export function growthSteps(wanted: string, claims: readonly Claim[]): ObjectStep[] {
  const size = canonicalQuantity(wanted);
  return claims.flatMap((claim): ObjectStep[] => {
    const has = claim.spec?.resources?.requests?.storage;
    const ref = refOf(claim, persistentVolumeClaims);
    if (has === undefined || ref === undefined || compareQuantities(has, size) >= 0) return [];
    return [
      {
        type: 'patch',
        optional: true,
        ref,
        patch: { spec: { resources: { requests: { storage: size } } } },
        changes: [{ path: 'spec.resources.requests.storage', from: has, to: size }],
      },
    ];
  });
}
