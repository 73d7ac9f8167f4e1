/** Where a Service leads, as kube-proxy sees it: the open endpoints of all its slices together. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { SimulatedWorld } from '../subject.ts';

type Slice = KubeObject & {
  readonly endpoints?:
    | readonly { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[]
    | null;
};

/** Of the Service to which the cluster's clients send writes. */
export const isEntrance = ({ kind, metadata }: KubeObject, cluster: string): boolean =>
  kind === 'EndpointSlice' && metadata.labels?.['kubernetes.io/service-name'] === `${cluster}-primary`;

/** Addresses, each once. */
export function entrances({ kubernetes, namespace, cluster }: SimulatedWorld): readonly string[] {
  const open = kubernetes
    .objects()
    .filter((object) => object.metadata.namespace === namespace && isEntrance(object, cluster))
    .flatMap((slice) => (slice as Slice).endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses);
  return [...new Set(open)];
}
