/** Which image a pod of a cluster runs. */
import type { Cluster } from '../api/cluster.ts';
import { inRegistry } from '../api/image.ts';

/** `named` by the resource, else `released`, from the registry of the operator where it has one. */
export function imageOf({ imageRegistry }: Cluster, named: string | undefined, released: string): string {
  return named ?? inRegistry(released, imageRegistry);
}
