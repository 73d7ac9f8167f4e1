/** What a list of a collection showed when the store stood at an earlier version. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { TransportRequest } from '../../../src/runtime/transport.ts';
import { targetOf } from '../wire/request.ts';
import type { SimulatedKubernetes } from '../world/kubernetes.ts';
import { pluralOf } from './plural.ts';

export function collectionAt(
  kubernetes: Pick<SimulatedKubernetes, 'objectsAt'>,
  { path, query }: TransportRequest,
  version: number,
): readonly KubeObject[] {
  const { resource, namespace } = targetOf(path);
  const [label = '', value] = query?.labelSelector?.split('=') ?? [];
  return kubernetes
    .objectsAt(version)
    .filter(
      (object) =>
        pluralOf(object) === resource &&
        (namespace === undefined || object.metadata.namespace === namespace) &&
        (label === '' || object.metadata.labels?.[label] === value),
    );
}
