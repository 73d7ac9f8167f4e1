/** What the spec of a cluster says of who connects, as objects. No other resource changes them, so they are built once. */
import type { Cluster } from '../api/cluster.ts';
import { wantedAccess } from '../plan/access-steps.ts';
import { memoize } from '../plan/memoize.ts';
import type { KindHandler } from './engine.ts';

const accessOfKind = memoize((engine: Pick<KindHandler, 'resources'>) =>
  memoize((cluster: Cluster) => wantedAccess(engine.resources(cluster))),
);

export function accessOf(engine: Pick<KindHandler, 'resources'>, cluster: Cluster): ReturnType<typeof wantedAccess> {
  return accessOfKind(engine)(cluster);
}
