/** Volumes grow with the spec, each by its own claim, whatever else goes on: a full disk must not block its growth. */
import type { Cluster } from '../../api/cluster.ts';
import { canonicalQuantity, compareQuantities } from '../../api/quantity.ts';
import type { RedisSpec } from '../../api/redis.ts';
import { persistentVolumeClaims } from '../../api/resource.ts';
import type { ObjectStep } from '../../plan/plan.ts';
import type { Children } from '../../resources/children.ts';
import { refOf } from './roles.ts';

/** A claim that somebody has made larger than the spec is left as it is: claims never shrink. */
export function growthSteps(cluster: Cluster<RedisSpec>, children: Children): ObjectStep[] {
  const size = canonicalQuantity(cluster.spec.storage.size);
  return children.claims.flatMap((claim): ObjectStep[] => {
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
