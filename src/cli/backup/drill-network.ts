/** A throw-away cluster holds the data of the original: who may not connect to the one may not connect to the other. */
import type { Cluster } from '../../api/cluster.ts';

export function drillNetwork({ spec }: Cluster): { readonly networkPolicy?: object } {
  const { networkPolicy } = spec as { readonly networkPolicy?: object };
  return networkPolicy === undefined ? {} : { networkPolicy };
}
