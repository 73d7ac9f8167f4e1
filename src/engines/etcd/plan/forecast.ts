/** What the passes after the next one do, for people who read a plan. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Children } from '../../../resources/children.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { isRetired } from '../observe/situation.ts';

export function forecastEtcd({ spec }: Cluster<EtcdSpec>, children: Children): readonly string[] {
  const size = children.objects.filter(({ kind }) => kind === 'StatefulSet').length;
  const volumes = children.claims.filter((claim) => !isRetired(claim)).map(({ metadata }) => metadata.name);
  if (size === 0) {
    return volumes.length === 0
      ? []
      : [`members resume on the volumes of an earlier cluster of this name: ${volumes.join(', ')}`];
  }
  const [coming, leaving] = [spec.replicas - size, size - spec.replicas];
  if (coming > 0) return [`${coming} member(s) join, one after the other, with a vote once each has the data`];
  if (spec.replicas === 0 || leaving === 0) return [];
  const fate = spec.deletionPolicy === 'Delete' ? 'go' : 'are kept';
  return [`${leaving} member(s) leave, one at a time, the newest first that does not lead; their volumes ${fate}`];
}
