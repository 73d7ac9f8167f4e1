/** Where a Service leads to: the addresses that kube-proxy knows. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { SimulatedWorld } from '../subject.ts';

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

export function endpointsOf({ kubernetes, namespace }: SimulatedWorld, service: string): readonly string[] {
  const slice = kubernetes
    .objects()
    .find(
      ({ kind, metadata }) =>
        kind === 'EndpointSlice' &&
        metadata.namespace === namespace &&
        metadata.labels?.['kubernetes.io/service-name'] === service,
    ) as (KubeObject & { readonly endpoints?: readonly Endpoint[] | null }) | undefined;
  return (slice?.endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses);
}
